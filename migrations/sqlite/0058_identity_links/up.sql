-- Accounts of identity providers and the people that they sign in as. `id` is a digest of provider and subject. A removed
-- link stays, so that older tokens of its account stay refused; its `person_key` is null.
CREATE TABLE identity_links (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    identity_provider_id BLOB NOT NULL,
    employee_id BLOB NOT NULL,
    subject TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    confirmed_at INTEGER,
    updated_at INTEGER NOT NULL,
    tokens_after INTEGER,
    removed_at INTEGER,
    person_key TEXT,
    removed INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT identity_links_person UNIQUE (tenant_id, person_key),
    CONSTRAINT identity_links_employee FOREIGN KEY (tenant_id, employee_id) REFERENCES employees (tenant_id, id)
) STRICT;
-- The list of a provider.
CREATE INDEX identity_links_by_provider ON identity_links (tenant_id, identity_provider_id, removed, created_at, id);
-- The links of a person, for access requests and erasures.
CREATE INDEX identity_links_by_employee ON identity_links (tenant_id, employee_id, created_at, id);

-- Deleted providers whose links are still there. A worker removes them in pieces. The table is nearly always empty.
CREATE TABLE identity_removals (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    deleted_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;
