-- Accounts of identity providers and the people that they sign in as. `id` is a digest of provider and subject. A removed
-- link stays, so that older tokens of its account stay refused; its `person_key` is null.
CREATE TABLE identity_links (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    identity_provider_id uuid NOT NULL,
    employee_id uuid NOT NULL,
    subject text NOT NULL,
    created_at timestamptz NOT NULL,
    confirmed_at timestamptz,
    updated_at timestamptz NOT NULL,
    tokens_after timestamptz,
    removed_at timestamptz,
    person_key text COLLATE "C",
    removed boolean NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT identity_links_person UNIQUE (tenant_id, person_key),
    CONSTRAINT identity_links_employee FOREIGN KEY (tenant_id, employee_id) REFERENCES employees (tenant_id, id)
);
-- The list of a provider.
CREATE INDEX identity_links_by_provider ON identity_links (tenant_id, identity_provider_id, removed, created_at, id);
-- The links of a person, for access requests and erasures.
CREATE INDEX identity_links_by_employee ON identity_links (tenant_id, employee_id, created_at, id);

-- Deleted providers whose links are still there. A worker removes them in pieces. The table is nearly always empty.
CREATE TABLE identity_removals (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    deleted_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

-- No statistics of columns with texts of people, see 0039, and of random ones, see 0060.
DO $$
BEGIN
    PERFORM set_config('citus.enable_ddl_propagation', 'off', true);
    ALTER TABLE identity_links ALTER COLUMN subject SET STATISTICS 0, ALTER COLUMN person_key SET STATISTICS 0;
END $$;
