-- Time at which a pseudonym replaced an erased person; null for all others.
ALTER TABLE employees ADD COLUMN erased_at INTEGER;

-- Erasures of people with their receipts. `sealed_email` is the encrypted address while the erasure is running, and
-- `running_since` the time of the request until it is completed.
CREATE TABLE erasures (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    employee_id BLOB NOT NULL,
    status TEXT NOT NULL,
    requested_at INTEGER NOT NULL,
    completed_at INTEGER,
    requester_type TEXT NOT NULL,
    requester_id TEXT NOT NULL,
    counts TEXT NOT NULL,
    out_of_reach TEXT NOT NULL,
    tables_to_rewrite TEXT NOT NULL,
    sealed_email BLOB,
    index_clean_at INTEGER,
    running_since INTEGER,
    version INTEGER NOT NULL,
    CONSTRAINT erasures_pkey PRIMARY KEY (tenant_id, id)
) STRICT;
-- For the list of erasures.
CREATE INDEX erasures_by_requested_at ON erasures (tenant_id, requested_at, id);
-- For the workers, which continue the running erasures of all tenants.
CREATE INDEX erasures_running ON erasures (running_since, tenant_id, id) WHERE running_since IS NOT NULL;

-- Ids of rows that a running erasure removed or overwrote. Deleted when it is completed.
CREATE TABLE erased_rows (
    tenant_id BLOB NOT NULL,
    erasure_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    id BLOB NOT NULL,
    CONSTRAINT erased_rows_pkey PRIMARY KEY (tenant_id, erasure_id, kind, id)
) STRICT, WITHOUT ROWID;
