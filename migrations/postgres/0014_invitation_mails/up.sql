-- The mail with the link of an invitation, which is queued with its row: `mail_status` is null where none was to be sent,
-- `mail_token` is sealed and only there while the mail is queued. What a `mail_worker` has is nobody else's until
-- `mail_leased_until`, which no index contains.
ALTER TABLE invitations ADD COLUMN mail_status text;
ALTER TABLE invitations ADD COLUMN mail_token bytea;
ALTER TABLE invitations ADD COLUMN mail_attempts bigint;
ALTER TABLE invitations ADD COLUMN mail_due_at timestamptz;
ALTER TABLE invitations ADD COLUMN mail_attempted_at timestamptz;
ALTER TABLE invitations ADD COLUMN mail_failure text;
ALTER TABLE invitations ADD COLUMN mail_worker uuid;
ALTER TABLE invitations ADD COLUMN mail_leased_until timestamptz;
-- Whoever sends mails looks for what is due across all tenants.
CREATE INDEX invitations_by_mail_due ON invitations (mail_due_at) WHERE mail_due_at IS NOT NULL;
