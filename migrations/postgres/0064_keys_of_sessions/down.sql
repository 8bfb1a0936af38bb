DROP INDEX api_keys_by_holder;
CREATE INDEX api_keys_by_holder ON api_keys (tenant_id, employee_id, expires_at) WHERE revoked_at IS NULL;
