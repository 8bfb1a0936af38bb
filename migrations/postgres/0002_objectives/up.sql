-- `shelf` is the family of the scope, with a suffix for archived objectives: the default list of a family is one
-- index range. Every other list has a range for each `scope_status`. `due_on` is the day on which an objective
-- starts automatically.
CREATE TABLE objectives (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    scope text NOT NULL,
    owner_id uuid NOT NULL,
    title text NOT NULL,
    description text,
    status text NOT NULL,
    period_start date NOT NULL,
    period_end date NOT NULL,
    linked_summary_ids uuid[] NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    submitted_at timestamptz,
    approved_at timestamptz,
    completed_at timestamptz,
    reviewed text,
    held_back boolean NOT NULL,
    shelf text NOT NULL,
    scope_status text NOT NULL,
    due_on date,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT objectives_owner FOREIGN KEY (tenant_id, owner_id) REFERENCES employees (tenant_id, id)
);
CREATE INDEX objectives_by_period_end ON objectives (tenant_id, shelf, period_end, id);
CREATE INDEX objectives_by_status_and_period_end ON objectives (tenant_id, scope_status, period_end, id);
CREATE INDEX objectives_by_created_at ON objectives (tenant_id, shelf, created_at, id);
CREATE INDEX objectives_by_status_and_created_at ON objectives (tenant_id, scope_status, created_at, id);
CREATE INDEX objectives_by_updated_at ON objectives (tenant_id, shelf, updated_at, id);
CREATE INDEX objectives_by_status_and_updated_at ON objectives (tenant_id, scope_status, updated_at, id);
CREATE INDEX objectives_by_owner ON objectives (tenant_id, owner_id, scope_status, period_end, id);
CREATE INDEX objectives_by_due_day ON objectives (due_on, tenant_id, id) WHERE due_on IS NOT NULL;

CREATE TABLE notifications (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    recipient_id uuid NOT NULL,
    type text NOT NULL,
    title text NOT NULL,
    body text NOT NULL,
    target_type text NOT NULL,
    target_id text NOT NULL,
    created_at timestamptz NOT NULL,
    read_at timestamptz,
    unread boolean NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT notifications_recipient FOREIGN KEY (tenant_id, recipient_id) REFERENCES employees (tenant_id, id)
);
CREATE INDEX notifications_by_recipient ON notifications (tenant_id, recipient_id, unread, created_at, id);
CREATE INDEX notifications_by_created_at ON notifications (tenant_id, unread, created_at, id);

-- For lookups of org admins, who are notified about people without a manager.
CREATE INDEX employees_by_role ON employees (tenant_id, role, status, id);
