-- Sessions of people who signed in at an identity provider, and the keys that they created: `session_id` is the session of
-- a key. A session names its account and, if the provider states one, the session at the provider.
ALTER TABLE api_keys ADD COLUMN kind TEXT NOT NULL DEFAULT 'key';
ALTER TABLE api_keys ADD COLUMN session_id BLOB;
ALTER TABLE api_keys ADD COLUMN identity_provider_id BLOB;
ALTER TABLE api_keys ADD COLUMN identity_subject TEXT;
ALTER TABLE api_keys ADD COLUMN identity_sid TEXT;
-- The list of the keys of a kind, in its two orders.
CREATE INDEX api_keys_by_kind ON api_keys (tenant_id, kind, created_at, id);
CREATE INDEX api_keys_by_kind_and_change ON api_keys (tenant_id, kind, updated_at, id);
-- A sign-in reads the sessions of its person.
CREATE INDEX api_keys_by_employee_and_kind ON api_keys (tenant_id, employee_id, kind, created_at, id);
-- A logout at the provider ends the sessions that came from one session there.
CREATE INDEX api_keys_by_identity_sid ON api_keys (tenant_id, identity_provider_id, identity_sid, created_at, id);
-- A sign-in finds its provider before it knows the tenant.
CREATE INDEX identity_providers_by_id ON identity_providers (id);
