-- Identity provider of the bearer token that sent a request. Null for the requests of API keys.
ALTER TABLE audit_entries ADD COLUMN identity_provider_id uuid;
