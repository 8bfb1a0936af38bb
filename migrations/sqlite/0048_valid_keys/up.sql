-- The valid keys of a person, or of the organization, are counted when another one is made.
CREATE INDEX api_keys_by_holder ON api_keys (tenant_id, employee_id, expires_at) WHERE revoked_at IS NULL;
-- A SCIM request resolves the open issues about a person.
CREATE INDEX sync_issues_open_by_employee ON sync_issues (tenant_id, resolved, employee_id, id);
-- The file of a person and an erasure read the keys that act for the person.
CREATE INDEX api_keys_by_employee ON api_keys (tenant_id, employee_id, created_at, id);
