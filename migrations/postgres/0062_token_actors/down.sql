ALTER TABLE audit_entries DROP COLUMN identity_provider_id;
