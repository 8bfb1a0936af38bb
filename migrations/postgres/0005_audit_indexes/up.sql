-- What somebody did, and who did something, without a walk past everything else of the tenant's log. Nothing is written
-- while they are made: where the log is so long that this matters, they are made beforehand under the same names with
-- CREATE INDEX CONCURRENTLY, see docs/operations.md.
CREATE INDEX IF NOT EXISTS audit_entries_by_action ON audit_entries (tenant_id, action, occurred_at, id);
CREATE INDEX IF NOT EXISTS audit_entries_by_actor ON audit_entries (tenant_id, actor_id, occurred_at, id);
