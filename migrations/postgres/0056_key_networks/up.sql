-- Networks from which a key can be used, separated by spaces. Empty for no limit.
ALTER TABLE api_keys ADD COLUMN allowed_networks text NOT NULL DEFAULT '';

-- No statistics of a column with texts of people, see 0039. Citus does not forward the change to the shards of a table
-- that is distributed already.
DO $$
DECLARE
    is_changed boolean;
BEGIN
    PERFORM set_config('citus.enable_ddl_propagation', 'off', true);
    ALTER TABLE api_keys ALTER COLUMN allowed_networks SET STATISTICS 0;
    IF to_regclass('pg_dist_partition') IS NOT NULL THEN
        EXECUTE 'SELECT bool_and(r.success) FROM pg_dist_partition AS p, '
            'run_command_on_shards(p.logicalrelid, $1) AS r WHERE p.logicalrelid = $2::regclass'
            INTO is_changed
            USING 'ALTER TABLE %s ALTER COLUMN allowed_networks SET STATISTICS 0', 'api_keys';
        IF NOT is_changed THEN
            RAISE EXCEPTION 'a shard of api_keys cannot be changed';
        END IF;
    END IF;
END $$;
