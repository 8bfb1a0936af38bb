-- Identity provider of the bearer token that sent a request. Null for the requests of API keys.
ALTER TABLE audit_entries ADD COLUMN identity_provider_id uuid;
-- Time up to which bearer tokens of an account were issued that are refused, while its sessions last.
ALTER TABLE identity_links ADD COLUMN bearer_tokens_after timestamptz;
