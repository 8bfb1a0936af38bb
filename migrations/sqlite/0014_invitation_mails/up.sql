-- Invitation mail, queued in the row of the invitation. `mail_status` is null if no mail is sent. `mail_token`
-- is encrypted and present only while the mail is queued. Other workers skip the row until `mail_leased_until`,
-- which no index contains.
ALTER TABLE invitations ADD COLUMN mail_status TEXT;
ALTER TABLE invitations ADD COLUMN mail_token BLOB;
ALTER TABLE invitations ADD COLUMN mail_attempts INTEGER;
ALTER TABLE invitations ADD COLUMN mail_due_at INTEGER;
ALTER TABLE invitations ADD COLUMN mail_attempted_at INTEGER;
ALTER TABLE invitations ADD COLUMN mail_failure TEXT;
ALTER TABLE invitations ADD COLUMN mail_worker BLOB;
ALTER TABLE invitations ADD COLUMN mail_leased_until INTEGER;
-- Workers query due mails of all tenants.
CREATE INDEX invitations_by_mail_due ON invitations (mail_due_at) WHERE mail_due_at IS NOT NULL;
