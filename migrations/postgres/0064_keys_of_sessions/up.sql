-- The valid keys that end with one session, or that no session created, are counted when another one is made. Keys of ended
-- sessions lie outside the range that is read.
DROP INDEX api_keys_by_holder;
CREATE INDEX api_keys_by_holder ON api_keys (tenant_id, employee_id, kind, session_id, expires_at) WHERE revoked_at IS NULL;
