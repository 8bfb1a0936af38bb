-- Time at which a pseudonym replaced an erased person; null for all others.
ALTER TABLE employees ADD COLUMN erased_at timestamptz;

-- Erasures of people with their receipts. `sealed_email` is the encrypted address while the erasure is running, and
-- `running_since` the time of the request until it is completed.
CREATE TABLE erasures (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    employee_id uuid NOT NULL,
    status text NOT NULL,
    requested_at timestamptz NOT NULL,
    completed_at timestamptz,
    requester_type text NOT NULL,
    requester_id text NOT NULL,
    counts text NOT NULL,
    out_of_reach text NOT NULL,
    tables_to_rewrite text NOT NULL,
    sealed_email bytea,
    index_clean_at timestamptz,
    running_since timestamptz,
    version bigint NOT NULL,
    CONSTRAINT erasures_pkey PRIMARY KEY (tenant_id, id)
);
-- For the list of erasures.
CREATE INDEX erasures_by_requested_at ON erasures (tenant_id, requested_at, id);
-- For the workers, which continue the running erasures of all tenants.
CREATE INDEX erasures_running ON erasures (running_since, tenant_id, id) WHERE running_since IS NOT NULL;

-- Ids of rows that a running erasure removed or overwrote. Deleted when it is completed.
CREATE TABLE erased_rows (
    tenant_id uuid NOT NULL,
    erasure_id uuid NOT NULL,
    kind text NOT NULL,
    id uuid NOT NULL,
    CONSTRAINT erased_rows_pkey PRIMARY KEY (tenant_id, erasure_id, kind, id)
);
