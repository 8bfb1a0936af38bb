-- The API key behind an entry whose actor is the connector that the key uploaded for.
ALTER TABLE audit_entries ADD COLUMN api_key_id text;
ALTER TABLE audit_entries ADD COLUMN api_key_name text;
