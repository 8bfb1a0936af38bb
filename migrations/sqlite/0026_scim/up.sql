-- Links of people to the accounts of an identity provider. `id` is the id of the person. The keys begin with the
-- connector and stay after a removal, so that a returning account finds its person.
CREATE TABLE scim_users (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    connector_id BLOB NOT NULL,
    user_name TEXT NOT NULL,
    external_id TEXT,
    manager_ref TEXT,
    extra TEXT NOT NULL,
    linked_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deactivated_at INTEGER,
    removed_at INTEGER,
    user_name_key TEXT NOT NULL,
    external_key TEXT,
    manager_key TEXT,
    removed INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT scim_users_user_name UNIQUE (tenant_id, user_name_key),
    CONSTRAINT scim_users_external_id UNIQUE (tenant_id, external_key),
    CONSTRAINT scim_users_employee FOREIGN KEY (tenant_id, id) REFERENCES employees (tenant_id, id)
) STRICT;
-- People who wait for a manager.
CREATE INDEX scim_users_by_manager ON scim_users (tenant_id, manager_key, id);
-- The list of a provider.
CREATE INDEX scim_users_by_connector ON scim_users (tenant_id, connector_id, removed, id);
-- The count of the brake.
CREATE INDEX scim_users_by_deactivation ON scim_users (tenant_id, connector_id, deactivated_at);
-- The time of the last change.
CREATE INDEX scim_users_by_updated_at ON scim_users (tenant_id, connector_id, updated_at);
-- People that a provider may adopt.
CREATE INDEX employees_by_hris_source ON employees (tenant_id, hris_source, id);

-- Parts of syncs that were not applied. `open_key` is null once an issue is resolved.
CREATE TABLE sync_issues (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    connector_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    user_name TEXT,
    external_id TEXT,
    employee_id BLOB,
    message TEXT NOT NULL,
    count INTEGER NOT NULL,
    first_occurred_at INTEGER NOT NULL,
    occurred_at INTEGER NOT NULL,
    resolved_at INTEGER,
    open_key BLOB,
    resolved INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT sync_issues_open UNIQUE (tenant_id, open_key)
) STRICT;
CREATE INDEX sync_issues_by_connector ON sync_issues (tenant_id, resolved, connector_id, occurred_at, id);
CREATE INDEX sync_issues_by_kind ON sync_issues (tenant_id, resolved, connector_id, kind, occurred_at, id);
CREATE INDEX sync_issues_by_employee ON sync_issues (tenant_id, employee_id, id);

-- The newest SCIM requests of each connector.
CREATE TABLE scim_requests (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    connector_id BLOB NOT NULL,
    occurred_at INTEGER NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    status INTEGER NOT NULL,
    scim_type TEXT,
    duration_ms INTEGER NOT NULL,
    user_agent TEXT,
    PRIMARY KEY (tenant_id, id)
) STRICT;
CREATE INDEX scim_requests_by_connector ON scim_requests (tenant_id, connector_id, occurred_at, id);

-- The connector of a key with the scope `scim`, and the quota of such a key.
ALTER TABLE api_keys ADD COLUMN connector_id BLOB;
ALTER TABLE api_keys ADD COLUMN scim_per_minute INTEGER;

-- Settings and state of the connector of an identity provider.
ALTER TABLE connectors ADD COLUMN brake_percent INTEGER NOT NULL DEFAULT 20;
ALTER TABLE connectors ADD COLUMN brake_at_least INTEGER NOT NULL DEFAULT 20;
ALTER TABLE connectors ADD COLUMN custom_field_mappings TEXT NOT NULL DEFAULT '{}';
ALTER TABLE connectors ADD COLUMN paused_at INTEGER;
ALTER TABLE connectors ADD COLUMN resumed_at INTEGER;
