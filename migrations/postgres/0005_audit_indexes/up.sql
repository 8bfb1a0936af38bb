-- For filters by actor and by action, without a scan of the tenant's log. Writes wait while the indexes are
-- built. For a long log, build them before with CREATE INDEX CONCURRENTLY under the same names, see
-- docs/operations.md.
CREATE INDEX IF NOT EXISTS audit_entries_by_action ON audit_entries (tenant_id, action, occurred_at, id);
CREATE INDEX IF NOT EXISTS audit_entries_by_actor ON audit_entries (tenant_id, actor_id, occurred_at, id);
