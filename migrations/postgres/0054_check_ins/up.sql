-- Key results as JSON, with decimals in ten-thousandths, and the figures of the last check-ins. Null: there are none.
ALTER TABLE objectives ADD COLUMN key_results text;
ALTER TABLE objectives ADD COLUMN stated_progress bigint;
ALTER TABLE objectives ADD COLUMN confidence text;
ALTER TABLE objectives ADD COLUMN last_check_in_at timestamptz;
-- The objective that this one supports. Without a foreign key, which SQLite cannot add to a table: erasures and the
-- retention set it to null.
ALTER TABLE objectives ADD COLUMN parent_id uuid;
-- The word of the filter, `none` for null, and the time of the order, in which null is the earliest.
ALTER TABLE objectives ADD COLUMN confidence_key text NOT NULL DEFAULT 'none';
ALTER TABLE objectives ADD COLUMN checked_in_at timestamptz NOT NULL DEFAULT '1970-01-01T00:00:00Z';
-- Objectives that support one, by status.
CREATE INDEX objectives_by_parent ON objectives (tenant_id, parent_id, scope_status, period_end, id);
-- Lists by confidence: the default one, and those by status.
CREATE INDEX objectives_by_confidence ON objectives (tenant_id, shelf, confidence_key, period_end, id);
CREATE INDEX objectives_by_status_and_confidence
    ON objectives (tenant_id, scope_status, confidence_key, period_end, id);
-- Lists by the last check-in.
CREATE INDEX objectives_by_check_in ON objectives (tenant_id, shelf, checked_in_at, id);
CREATE INDEX objectives_by_status_and_check_in ON objectives (tenant_id, scope_status, checked_in_at, id);

-- Check-ins are immutable. `owner_id` is the owner of the objective, who never changes.
CREATE TABLE check_ins (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    objective_id uuid NOT NULL,
    owner_id uuid NOT NULL,
    author_id uuid,
    progress bigint,
    confidence text,
    note text,
    key_results text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT check_ins_objective FOREIGN KEY (tenant_id, objective_id) REFERENCES objectives (tenant_id, id),
    CONSTRAINT check_ins_author FOREIGN KEY (tenant_id, author_id) REFERENCES employees (tenant_id, id)
);
CREATE INDEX check_ins_by_objective ON check_ins (tenant_id, objective_id, created_at, id);
-- The check-ins about a person and by a person, for access requests.
CREATE INDEX check_ins_by_owner ON check_ins (tenant_id, owner_id, created_at, id);
CREATE INDEX check_ins_by_author ON check_ins (tenant_id, author_id, created_at, id);

-- No statistics of columns with texts of people, see 0039. Citus does not forward the change to the shards of a table
-- that is distributed already.
DO $$
DECLARE
    is_changed boolean;
BEGIN
    PERFORM set_config('citus.enable_ddl_propagation', 'off', true);
    ALTER TABLE check_ins ALTER COLUMN note SET STATISTICS 0, ALTER COLUMN key_results SET STATISTICS 0;
    ALTER TABLE objectives ALTER COLUMN key_results SET STATISTICS 0;
    IF to_regclass('pg_dist_partition') IS NOT NULL THEN
        EXECUTE 'SELECT bool_and(r.success) FROM pg_dist_partition AS p, '
            'run_command_on_shards(p.logicalrelid, $1) AS r WHERE p.logicalrelid = $2::regclass'
            INTO is_changed
            USING 'ALTER TABLE %s ALTER COLUMN key_results SET STATISTICS 0', 'objectives';
        IF NOT is_changed THEN
            RAISE EXCEPTION 'a shard of objectives cannot be changed';
        END IF;
    END IF;
END $$;
