-- Every key, unique constraint, foreign key and index starts with the tenant, so that no row can refer to
-- another tenant. The application creates ids and times: no sequences, no triggers, no now(). Ids are BLOBs of
-- 16 bytes, instants are milliseconds and days are days since 1970-01-01.

-- Settings of an organization for each data set.
CREATE TABLE organizations (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    objective_review TEXT NOT NULL,
    summary_review TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE departments (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    archived_at INTEGER,
    name_key TEXT NOT NULL,
    archived INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT departments_name UNIQUE (tenant_id, name_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX departments_by_name ON departments (tenant_id, archived, name_key, id);
CREATE INDEX departments_by_created_at ON departments (tenant_id, archived, created_at, id);
CREATE INDEX departments_by_updated_at ON departments (tenant_id, archived, updated_at, id);

CREATE TABLE attributes (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    category TEXT NOT NULL,
    tone TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    archived_at INTEGER,
    name_key TEXT NOT NULL,
    archived INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT attributes_name UNIQUE (tenant_id, name_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX attributes_by_name ON attributes (tenant_id, archived, name_key, id);
CREATE INDEX attributes_by_created_at ON attributes (tenant_id, archived, created_at, id);
CREATE INDEX attributes_by_updated_at ON attributes (tenant_id, archived, updated_at, id);

CREATE TABLE connectors (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    type TEXT NOT NULL,
    hris_source TEXT NOT NULL,
    mapped_custom_field_keys TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX connectors_by_created_at ON connectors (tenant_id, created_at, id);
CREATE INDEX connectors_by_updated_at ON connectors (tenant_id, updated_at, id);

CREATE TABLE employees (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    email TEXT NOT NULL,
    external_id TEXT,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    role TEXT NOT NULL,
    manager_id BLOB,
    department_id BLOB,
    status TEXT NOT NULL,
    custom_fields TEXT NOT NULL,
    hris_source TEXT NOT NULL,
    connector_id BLOB,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deactivated_at INTEGER,
    email_key TEXT NOT NULL,
    first_name_key TEXT NOT NULL,
    last_name_key TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT employees_email UNIQUE (tenant_id, email_key),
    CONSTRAINT employees_external_id UNIQUE (tenant_id, external_id),
    CONSTRAINT employees_manager FOREIGN KEY (tenant_id, manager_id) REFERENCES employees (tenant_id, id),
    CONSTRAINT employees_department FOREIGN KEY (tenant_id, department_id) REFERENCES departments (tenant_id, id),
    CONSTRAINT employees_connector FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors (tenant_id, id)
) STRICT;
CREATE INDEX employees_by_last_name ON employees (tenant_id, status, last_name_key, id);
CREATE INDEX employees_by_first_name ON employees (tenant_id, status, first_name_key, id);
CREATE INDEX employees_by_created_at ON employees (tenant_id, status, created_at, id);
CREATE INDEX employees_by_updated_at ON employees (tenant_id, status, updated_at, id);
CREATE INDEX employees_by_manager ON employees (tenant_id, manager_id, status, last_name_key, first_name_key, id);
CREATE INDEX employees_by_department ON employees (tenant_id, department_id, status, last_name_key, id);
CREATE INDEX employees_by_connector ON employees (tenant_id, connector_id, id);

-- People by a digest of key and value of a custom field.
CREATE TABLE employee_custom_values (
    tenant_id BLOB NOT NULL,
    digest BLOB NOT NULL,
    employee_id BLOB NOT NULL,
    PRIMARY KEY (tenant_id, digest, employee_id),
    CONSTRAINT employee_custom_values_employee FOREIGN KEY (tenant_id, employee_id) REFERENCES employees (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX employee_custom_values_by_employee ON employee_custom_values (tenant_id, employee_id, digest);

-- Change counters of a tenant's reporting lines: `version` counts moves of people, `changes` counts all changes. A
-- transaction that changes a line updates this row.
CREATE TABLE reporting_trees (
    tenant_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    changes INTEGER NOT NULL,
    PRIMARY KEY (tenant_id)
) STRICT, WITHOUT ROWID;

-- Closure of the reporting lines: a row for each person and each manager above, at any depth (1 = direct
-- report).
CREATE TABLE reporting_lines (
    tenant_id BLOB NOT NULL,
    ancestor_id BLOB NOT NULL,
    descendant_id BLOB NOT NULL,
    depth INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, ancestor_id, descendant_id),
    CONSTRAINT reporting_lines_ancestor FOREIGN KEY (tenant_id, ancestor_id) REFERENCES employees (tenant_id, id),
    CONSTRAINT reporting_lines_descendant FOREIGN KEY (tenant_id, descendant_id) REFERENCES employees (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX reporting_lines_by_descendant ON reporting_lines (tenant_id, descendant_id, ancestor_id, depth);

CREATE TABLE invitations (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    employee_id BLOB NOT NULL,
    token_hash BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    accepted_at INTEGER,
    revoked_at INTEGER,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT invitations_employee FOREIGN KEY (tenant_id, employee_id) REFERENCES employees (tenant_id, id)
) STRICT;
CREATE INDEX invitations_by_employee ON invitations (tenant_id, employee_id, created_at, id);
CREATE UNIQUE INDEX invitations_by_token ON invitations (token_hash);

-- Keys belong to the organization and are stored under its live tenant.
CREATE TABLE api_keys (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    environment TEXT NOT NULL,
    access_level TEXT NOT NULL,
    scopes TEXT NOT NULL,
    employee_id BLOB,
    last4 TEXT NOT NULL,
    reads_per_minute INTEGER,
    writes_per_minute INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER,
    revoked_at INTEGER,
    hash BLOB NOT NULL,
    previous_hash BLOB,
    previous_until INTEGER,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
) STRICT;
CREATE UNIQUE INDEX api_keys_by_hash ON api_keys (hash);
CREATE UNIQUE INDEX api_keys_by_previous_hash ON api_keys (previous_hash);
CREATE INDEX api_keys_by_id ON api_keys (id);
CREATE INDEX api_keys_by_created_at ON api_keys (tenant_id, created_at, id);
CREATE INDEX api_keys_by_updated_at ON api_keys (tenant_id, updated_at, id);

CREATE TABLE observations (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    employee_id BLOB NOT NULL,
    author_id BLOB,
    type TEXT NOT NULL,
    observation TEXT NOT NULL,
    impact TEXT,
    recommended_action TEXT,
    attribute_ids BLOB NOT NULL,
    observation_date INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    archived_at INTEGER,
    archived INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT observations_employee FOREIGN KEY (tenant_id, employee_id) REFERENCES employees (tenant_id, id),
    CONSTRAINT observations_author FOREIGN KEY (tenant_id, author_id) REFERENCES employees (tenant_id, id)
) STRICT;
-- The person comes last, so that an ordered scan for the team of a manager needs only the index.
CREATE INDEX observations_by_date ON observations (tenant_id, archived, observation_date, id, employee_id);
CREATE INDEX observations_by_created_at ON observations (tenant_id, archived, created_at, id, employee_id);
CREATE INDEX observations_by_updated_at ON observations (tenant_id, archived, updated_at, id, employee_id);
CREATE INDEX observations_by_employee ON observations (tenant_id, employee_id, archived, observation_date, id);

-- Observations by attribute. Without a foreign key to the attributes, because every writer would lock the same
-- few rows. Attributes are never deleted, and a commit checks newly used ones.
CREATE TABLE observation_attributes (
    tenant_id BLOB NOT NULL,
    attribute_id BLOB NOT NULL,
    observation_id BLOB NOT NULL,
    PRIMARY KEY (tenant_id, attribute_id, observation_id),
    CONSTRAINT observation_attributes_observation FOREIGN KEY (tenant_id, observation_id) REFERENCES observations (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX observation_attributes_by_observation ON observation_attributes (tenant_id, observation_id, attribute_id);

-- Events in commit order by `position`. A position is never reused, even after all events are deleted.
CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    type TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (tenant_id, id)
) STRICT;
CREATE INDEX events_by_position ON events (tenant_id, position, id);
CREATE INDEX events_by_created_at ON events (created_at);

-- Append-only audit log.
CREATE TABLE audit_entries (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    occurred_at INTEGER NOT NULL,
    action TEXT NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id TEXT,
    actor_name TEXT NOT NULL,
    target_type TEXT NOT NULL,
    target_id TEXT NOT NULL,
    changes TEXT NOT NULL,
    comment TEXT,
    request_id TEXT,
    ip TEXT,
    user_agent TEXT,
    PRIMARY KEY (tenant_id, id)
) STRICT;
CREATE INDEX audit_entries_by_time ON audit_entries (tenant_id, occurred_at, id);
CREATE INDEX audit_entries_by_target ON audit_entries (tenant_id, target_id, occurred_at, id);

-- Stored responses for retries with the same idempotency key.
CREATE TABLE replays (
    tenant_id BLOB NOT NULL,
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    status INTEGER NOT NULL,
    sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, key)
) STRICT;
CREATE INDEX replays_by_expiry ON replays (expires_at);
