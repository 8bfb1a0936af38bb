-- For filters by actor and by action, without a scan of the tenant's log.
CREATE INDEX audit_entries_by_action ON audit_entries (tenant_id, action, occurred_at, id);
CREATE INDEX audit_entries_by_actor ON audit_entries (tenant_id, actor_id, occurred_at, id);
