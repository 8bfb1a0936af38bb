DROP INDEX invitations_accepted_in_domain;
DROP INDEX invitations_accepted;
ALTER TABLE invitations DROP COLUMN domain_hash;
