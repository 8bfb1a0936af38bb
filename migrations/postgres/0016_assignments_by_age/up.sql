-- For the default list of assignments, which has all statuses.
CREATE INDEX assignments_by_age ON assignments (tenant_id, created_at, id);
