-- `shelf` is the family of the scope, with a suffix for archived objectives: the default list of a family is one
-- index range. Every other list has a range for each `scope_status`. `due_on` is the day on which an objective
-- starts automatically.
CREATE TABLE objectives (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    scope TEXT NOT NULL,
    owner_id BLOB NOT NULL,
    title TEXT NOT NULL,
    description TEXT,
    status TEXT NOT NULL,
    period_start INTEGER NOT NULL,
    period_end INTEGER NOT NULL,
    linked_summary_ids BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    submitted_at INTEGER,
    approved_at INTEGER,
    completed_at INTEGER,
    reviewed TEXT,
    held_back INTEGER NOT NULL,
    shelf TEXT NOT NULL,
    scope_status TEXT NOT NULL,
    due_on INTEGER,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT objectives_owner FOREIGN KEY (tenant_id, owner_id) REFERENCES employees (tenant_id, id)
) STRICT;
CREATE INDEX objectives_by_period_end ON objectives (tenant_id, shelf, period_end, id);
CREATE INDEX objectives_by_status_and_period_end ON objectives (tenant_id, scope_status, period_end, id);
CREATE INDEX objectives_by_created_at ON objectives (tenant_id, shelf, created_at, id);
CREATE INDEX objectives_by_status_and_created_at ON objectives (tenant_id, scope_status, created_at, id);
CREATE INDEX objectives_by_updated_at ON objectives (tenant_id, shelf, updated_at, id);
CREATE INDEX objectives_by_status_and_updated_at ON objectives (tenant_id, scope_status, updated_at, id);
CREATE INDEX objectives_by_owner ON objectives (tenant_id, owner_id, scope_status, period_end, id);
CREATE INDEX objectives_by_due_day ON objectives (due_on, tenant_id, id) WHERE due_on IS NOT NULL;

CREATE TABLE notifications (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    recipient_id BLOB NOT NULL,
    type TEXT NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    target_type TEXT NOT NULL,
    target_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    read_at INTEGER,
    unread INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT notifications_recipient FOREIGN KEY (tenant_id, recipient_id) REFERENCES employees (tenant_id, id)
) STRICT;
CREATE INDEX notifications_by_recipient ON notifications (tenant_id, recipient_id, unread, created_at, id);
CREATE INDEX notifications_by_created_at ON notifications (tenant_id, unread, created_at, id);

-- For lookups of org admins, who are notified about people without a manager.
CREATE INDEX employees_by_role ON employees (tenant_id, role, status, id);
