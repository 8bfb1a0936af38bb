ALTER TABLE audit_entries DROP COLUMN api_key_name;
ALTER TABLE audit_entries DROP COLUMN api_key_id;
