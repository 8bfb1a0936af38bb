-- Invitation mail, queued in the row of the invitation. `mail_status` is null if no mail is sent. `mail_token`
-- is encrypted and present only while the mail is queued. Other workers skip the row until `mail_leased_until`,
-- which no index contains.
ALTER TABLE invitations ADD COLUMN mail_status text;
ALTER TABLE invitations ADD COLUMN mail_token bytea;
ALTER TABLE invitations ADD COLUMN mail_attempts bigint;
ALTER TABLE invitations ADD COLUMN mail_due_at timestamptz;
ALTER TABLE invitations ADD COLUMN mail_attempted_at timestamptz;
ALTER TABLE invitations ADD COLUMN mail_failure text;
ALTER TABLE invitations ADD COLUMN mail_worker uuid;
ALTER TABLE invitations ADD COLUMN mail_leased_until timestamptz;
-- Workers query due mails of all tenants.
CREATE INDEX invitations_by_mail_due ON invitations (mail_due_at) WHERE mail_due_at IS NOT NULL;
