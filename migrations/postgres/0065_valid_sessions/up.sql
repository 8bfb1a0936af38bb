-- The end of a session that is not revoked; null for other keys.
ALTER TABLE api_keys ADD COLUMN session_ends_at timestamptz;
UPDATE api_keys SET session_ends_at = expires_at WHERE kind = 'session' AND revoked_at IS NULL;
-- A sign-in and a logout read the valid sessions of a person. Ended ones lie outside the range that is read.
CREATE INDEX api_keys_by_employee_and_end ON api_keys (tenant_id, employee_id, session_ends_at, id);
