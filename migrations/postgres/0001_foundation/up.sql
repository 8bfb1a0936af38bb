-- Every key, unique constraint, foreign key and index starts with the tenant, so that no row can refer to
-- another tenant. The application creates ids and times: no sequences, no triggers, no now().

-- Settings of an organization for each data set.
CREATE TABLE organizations (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    objective_review text NOT NULL,
    summary_review text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE TABLE departments (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    archived_at timestamptz,
    name_key text COLLATE "C" NOT NULL,
    archived boolean NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT departments_name UNIQUE (tenant_id, name_key)
);
CREATE INDEX departments_by_name ON departments (tenant_id, archived, name_key, id);
CREATE INDEX departments_by_created_at ON departments (tenant_id, archived, created_at, id);
CREATE INDEX departments_by_updated_at ON departments (tenant_id, archived, updated_at, id);

CREATE TABLE attributes (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    category text NOT NULL,
    tone text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    archived_at timestamptz,
    name_key text COLLATE "C" NOT NULL,
    archived boolean NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT attributes_name UNIQUE (tenant_id, name_key)
);
CREATE INDEX attributes_by_name ON attributes (tenant_id, archived, name_key, id);
CREATE INDEX attributes_by_created_at ON attributes (tenant_id, archived, created_at, id);
CREATE INDEX attributes_by_updated_at ON attributes (tenant_id, archived, updated_at, id);

CREATE TABLE connectors (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    hris_source text NOT NULL,
    mapped_custom_field_keys text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX connectors_by_created_at ON connectors (tenant_id, created_at, id);
CREATE INDEX connectors_by_updated_at ON connectors (tenant_id, updated_at, id);

CREATE TABLE employees (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    email text NOT NULL,
    external_id text,
    first_name text NOT NULL,
    last_name text NOT NULL,
    role text NOT NULL,
    manager_id uuid,
    department_id uuid,
    status text NOT NULL,
    custom_fields text NOT NULL,
    hris_source text NOT NULL,
    connector_id uuid,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    deactivated_at timestamptz,
    email_key text COLLATE "C" NOT NULL,
    first_name_key text COLLATE "C" NOT NULL,
    last_name_key text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT employees_email UNIQUE (tenant_id, email_key),
    CONSTRAINT employees_external_id UNIQUE (tenant_id, external_id),
    CONSTRAINT employees_manager FOREIGN KEY (tenant_id, manager_id) REFERENCES employees (tenant_id, id),
    CONSTRAINT employees_department FOREIGN KEY (tenant_id, department_id) REFERENCES departments (tenant_id, id),
    CONSTRAINT employees_connector FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors (tenant_id, id)
);
CREATE INDEX employees_by_last_name ON employees (tenant_id, status, last_name_key, id);
CREATE INDEX employees_by_first_name ON employees (tenant_id, status, first_name_key, id);
CREATE INDEX employees_by_created_at ON employees (tenant_id, status, created_at, id);
CREATE INDEX employees_by_updated_at ON employees (tenant_id, status, updated_at, id);
CREATE INDEX employees_by_manager ON employees (tenant_id, manager_id, status, last_name_key, first_name_key, id);
CREATE INDEX employees_by_department ON employees (tenant_id, department_id, status, last_name_key, id);
CREATE INDEX employees_by_connector ON employees (tenant_id, connector_id, id);

-- People by a digest of key and value of a custom field.
CREATE TABLE employee_custom_values (
    tenant_id uuid NOT NULL,
    digest uuid NOT NULL,
    employee_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, digest, employee_id),
    CONSTRAINT employee_custom_values_employee FOREIGN KEY (tenant_id, employee_id) REFERENCES employees (tenant_id, id)
);
CREATE INDEX employee_custom_values_by_employee ON employee_custom_values (tenant_id, employee_id, digest);

-- Change counters of a tenant's reporting lines: `version` counts moves of people, `changes` counts all
-- changes. A transaction that changes a line locks this row.
CREATE TABLE reporting_trees (
    tenant_id uuid NOT NULL,
    version bigint NOT NULL,
    changes bigint NOT NULL,
    PRIMARY KEY (tenant_id)
) WITH (fillfactor = 50);

-- Closure of the reporting lines: a row for each person and each manager above, at any depth (1 = direct
-- report).
CREATE TABLE reporting_lines (
    tenant_id uuid NOT NULL,
    ancestor_id uuid NOT NULL,
    descendant_id uuid NOT NULL,
    depth bigint NOT NULL,
    PRIMARY KEY (tenant_id, ancestor_id, descendant_id),
    CONSTRAINT reporting_lines_ancestor FOREIGN KEY (tenant_id, ancestor_id) REFERENCES employees (tenant_id, id),
    CONSTRAINT reporting_lines_descendant FOREIGN KEY (tenant_id, descendant_id) REFERENCES employees (tenant_id, id)
);
-- Without the ancestor: a lookup of one line must use the primary key, which keeps a subtree together.
CREATE INDEX reporting_lines_by_descendant ON reporting_lines (tenant_id, descendant_id);

CREATE TABLE invitations (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    employee_id uuid NOT NULL,
    token_hash bytea NOT NULL,
    created_at timestamptz NOT NULL,
    accepted_at timestamptz,
    revoked_at timestamptz,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT invitations_employee FOREIGN KEY (tenant_id, employee_id) REFERENCES employees (tenant_id, id)
);
CREATE INDEX invitations_by_employee ON invitations (tenant_id, employee_id, created_at, id);
CREATE UNIQUE INDEX invitations_by_token ON invitations (token_hash);

-- Keys belong to the organization and are stored under its live tenant.
CREATE TABLE api_keys (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    environment text NOT NULL,
    access_level text NOT NULL,
    scopes text NOT NULL,
    employee_id uuid,
    last4 text NOT NULL,
    reads_per_minute bigint,
    writes_per_minute bigint,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz,
    hash bytea NOT NULL,
    previous_hash bytea,
    previous_until timestamptz,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX api_keys_by_hash ON api_keys (hash);
CREATE UNIQUE INDEX api_keys_by_previous_hash ON api_keys (previous_hash);
CREATE INDEX api_keys_by_id ON api_keys (id);
CREATE INDEX api_keys_by_created_at ON api_keys (tenant_id, created_at, id);
CREATE INDEX api_keys_by_updated_at ON api_keys (tenant_id, updated_at, id);

CREATE TABLE observations (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    employee_id uuid NOT NULL,
    author_id uuid,
    type text NOT NULL,
    observation text NOT NULL,
    impact text,
    recommended_action text,
    attribute_ids uuid[] NOT NULL,
    observation_date date NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    archived_at timestamptz,
    archived boolean NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT observations_employee FOREIGN KEY (tenant_id, employee_id) REFERENCES employees (tenant_id, id),
    CONSTRAINT observations_author FOREIGN KEY (tenant_id, author_id) REFERENCES employees (tenant_id, id)
);
-- The person follows the sort column, so that a list of a team's observations is an index-only scan.
CREATE INDEX observations_by_date ON observations (tenant_id, archived, observation_date, id, employee_id);
CREATE INDEX observations_by_created_at ON observations (tenant_id, archived, created_at, id, employee_id);
CREATE INDEX observations_by_updated_at ON observations (tenant_id, archived, updated_at, id, employee_id);
CREATE INDEX observations_by_employee ON observations (tenant_id, employee_id, archived, observation_date, id);

-- Observations by attribute. Without a foreign key to the attributes, because every writer would lock the same
-- few rows. Attributes are never deleted, and a commit checks newly used ones.
CREATE TABLE observation_attributes (
    tenant_id uuid NOT NULL,
    attribute_id uuid NOT NULL,
    observation_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, attribute_id, observation_id),
    CONSTRAINT observation_attributes_observation FOREIGN KEY (tenant_id, observation_id) REFERENCES observations (tenant_id, id)
);
CREATE INDEX observation_attributes_by_observation ON observation_attributes (tenant_id, observation_id, attribute_id);

-- Offset that is added to a transaction id to get the position of its events. It is raised after a restore into
-- a server whose transaction ids are lower than those of the restored events.
CREATE FUNCTION feed_offset() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT 0::bigint';

-- Events in commit order by `position`.
CREATE TABLE events (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    created_at timestamptz NOT NULL,
    data text NOT NULL,
    position bigint NOT NULL DEFAULT (pg_current_xact_id()::text::bigint + feed_offset()),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX events_by_position ON events (tenant_id, position, id);
CREATE INDEX events_by_created_at ON events (created_at);

-- Append-only audit log.
CREATE TABLE audit_entries (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    occurred_at timestamptz NOT NULL,
    action text NOT NULL,
    actor_type text NOT NULL,
    actor_id text,
    actor_name text NOT NULL,
    target_type text NOT NULL,
    target_id text NOT NULL,
    changes text NOT NULL,
    comment text,
    request_id text,
    ip text,
    user_agent text,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX audit_entries_by_time ON audit_entries (tenant_id, occurred_at, id);
CREATE INDEX audit_entries_by_target ON audit_entries (tenant_id, target_id, occurred_at, id);

-- Stored responses for retries with the same idempotency key.
CREATE TABLE replays (
    tenant_id uuid NOT NULL,
    key text COLLATE "C" NOT NULL,
    fingerprint bytea NOT NULL,
    status bigint NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, key)
);
CREATE INDEX replays_by_expiry ON replays (expires_at);
