DROP INDEX invitations_by_mail_due;
ALTER TABLE invitations DROP COLUMN mail_leased_until;
ALTER TABLE invitations DROP COLUMN mail_worker;
ALTER TABLE invitations DROP COLUMN mail_failure;
ALTER TABLE invitations DROP COLUMN mail_attempted_at;
ALTER TABLE invitations DROP COLUMN mail_due_at;
ALTER TABLE invitations DROP COLUMN mail_attempts;
ALTER TABLE invitations DROP COLUMN mail_token;
ALTER TABLE invitations DROP COLUMN mail_status;
