-- Periods of the retention rules, the time from which each of them applies, and the time of the next run; null without a
-- rule.
ALTER TABLE organizations ADD COLUMN retention text NOT NULL DEFAULT '{}';
ALTER TABLE organizations ADD COLUMN retention_starts text NOT NULL DEFAULT '{}';
ALTER TABLE organizations ADD COLUMN retention_due_at timestamptz;
-- For the workers, which begin the due runs of all tenants.
CREATE INDEX organizations_retention_due ON organizations (retention_due_at, tenant_id, id)
    WHERE retention_due_at IS NOT NULL;

-- Time of the deactivation of a person who is not erased; null for people who have not left.
ALTER TABLE employees ADD COLUMN left_at timestamptz;
UPDATE employees SET left_at = deactivated_at WHERE status = 'deactivated' AND erased_at IS NULL;
-- For the rule about deactivated people.
CREATE INDEX employees_left ON employees (tenant_id, left_at, id) WHERE left_at IS NOT NULL;

-- Runs of the retention with their receipts.
CREATE TABLE retention_runs (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    status text NOT NULL,
    started_at timestamptz NOT NULL,
    completed_at timestamptz,
    applied text NOT NULL,
    counts text NOT NULL,
    out_of_reach text NOT NULL,
    tables_to_rewrite text NOT NULL,
    index_clean_at timestamptz,
    version bigint NOT NULL,
    CONSTRAINT retention_runs_pkey PRIMARY KEY (tenant_id, id)
);
-- For the list of runs.
CREATE INDEX retention_runs_by_started_at ON retention_runs (tenant_id, started_at, id);
