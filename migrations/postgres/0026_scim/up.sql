-- Links of people to the accounts of an identity provider. `id` is the id of the person. The keys begin with the
-- connector and stay after a removal, so that a returning account finds its person.
CREATE TABLE scim_users (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    connector_id uuid NOT NULL,
    user_name text NOT NULL,
    external_id text,
    manager_ref text,
    extra text NOT NULL,
    linked_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    deactivated_at timestamptz,
    removed_at timestamptz,
    user_name_key text COLLATE "C" NOT NULL,
    external_key text COLLATE "C",
    manager_key text COLLATE "C",
    removed boolean NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT scim_users_user_name UNIQUE (tenant_id, user_name_key),
    CONSTRAINT scim_users_external_id UNIQUE (tenant_id, external_key),
    CONSTRAINT scim_users_employee FOREIGN KEY (tenant_id, id) REFERENCES employees (tenant_id, id)
);
-- People who wait for a manager.
CREATE INDEX scim_users_by_manager ON scim_users (tenant_id, manager_key, id);
-- The list of a provider.
CREATE INDEX scim_users_by_connector ON scim_users (tenant_id, connector_id, removed, id);
-- The count of the brake.
CREATE INDEX scim_users_by_deactivation ON scim_users (tenant_id, connector_id, deactivated_at);
-- The time of the last change.
CREATE INDEX scim_users_by_updated_at ON scim_users (tenant_id, connector_id, updated_at);
-- People that a provider may adopt.
CREATE INDEX IF NOT EXISTS employees_by_hris_source ON employees (tenant_id, hris_source, id);

-- Parts of syncs that were not applied. `open_key` is null once an issue is resolved.
CREATE TABLE sync_issues (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    connector_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    user_name text,
    external_id text,
    employee_id uuid,
    message text NOT NULL,
    count bigint NOT NULL,
    first_occurred_at timestamptz NOT NULL,
    occurred_at timestamptz NOT NULL,
    resolved_at timestamptz,
    open_key bytea,
    resolved boolean NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT sync_issues_open UNIQUE (tenant_id, open_key)
);
CREATE INDEX sync_issues_by_connector ON sync_issues (tenant_id, resolved, connector_id, occurred_at, id);
CREATE INDEX sync_issues_by_kind ON sync_issues (tenant_id, resolved, connector_id, kind, occurred_at, id);
CREATE INDEX sync_issues_by_employee ON sync_issues (tenant_id, employee_id, id);

-- The newest SCIM requests of each connector.
CREATE TABLE scim_requests (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    connector_id uuid NOT NULL,
    occurred_at timestamptz NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    status bigint NOT NULL,
    scim_type text,
    duration_ms bigint NOT NULL,
    user_agent text,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX scim_requests_by_connector ON scim_requests (tenant_id, connector_id, occurred_at, id);

-- The connector of a key with the scope `scim`, and the quota of such a key.
ALTER TABLE api_keys ADD COLUMN connector_id uuid;
ALTER TABLE api_keys ADD COLUMN scim_per_minute bigint;

-- Settings and state of the connector of an identity provider.
ALTER TABLE connectors ADD COLUMN brake_percent bigint NOT NULL DEFAULT 20;
ALTER TABLE connectors ADD COLUMN brake_at_least bigint NOT NULL DEFAULT 20;
ALTER TABLE connectors ADD COLUMN custom_field_mappings text NOT NULL DEFAULT '{}';
ALTER TABLE connectors ADD COLUMN paused_at timestamptz;
ALTER TABLE connectors ADD COLUMN resumed_at timestamptz;
