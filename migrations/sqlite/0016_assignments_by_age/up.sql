-- The default list, whatever the status.
CREATE INDEX assignments_by_age ON assignments (tenant_id, created_at, id);
