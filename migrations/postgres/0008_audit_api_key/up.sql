-- API key of an upload whose audit entry has the connector as its actor.
ALTER TABLE audit_entries ADD COLUMN api_key_id text;
ALTER TABLE audit_entries ADD COLUMN api_key_name text;
