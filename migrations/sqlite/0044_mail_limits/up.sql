-- Digest of the domain that the invitation was for. Null for older invitations.
ALTER TABLE invitations ADD COLUMN domain_hash BLOB;
-- Accepted invitations, which raise the limits of mails.
CREATE INDEX invitations_accepted ON invitations (tenant_id, accepted_at, id) WHERE accepted_at IS NOT NULL;
CREATE INDEX invitations_accepted_in_domain ON invitations (tenant_id, domain_hash, accepted_at, id)
    WHERE accepted_at IS NOT NULL;
