-- Statistics with the default target.
DO $$
DECLARE
    place record;
    is_changed boolean;
BEGIN
    -- Citus does not forward this change, so it is made on every shard.
    PERFORM set_config('citus.enable_ddl_propagation', 'off', true);
    FOR place IN
        SELECT v.name, string_agg(format('ALTER COLUMN %I SET STATISTICS -1', c), ', ') AS change
        FROM (VALUES
            ('api_keys', '{hash, previous_hash}'),
            ('invitations', '{token_hash}'),
            ('master_keys', '{key_id}'),
            ('recipient_mails', '{recipient}'),
            ('replays', '{key, fingerprint}'),
            ('sync_issues', '{open_key}')
        ) AS v (name, columns), unnest(v.columns::text[]) AS c
        GROUP BY v.name
    LOOP
        EXECUTE format('ALTER TABLE %I %s', place.name, place.change);
        IF to_regclass('pg_dist_partition') IS NOT NULL THEN
            EXECUTE 'SELECT bool_and(r.success) FROM pg_dist_partition AS p, '
                'run_command_on_shards(p.logicalrelid, $1) AS r WHERE p.logicalrelid = $2::regclass'
                INTO is_changed USING 'ALTER TABLE %s ' || place.change, place.name;
            IF NOT is_changed THEN
                RAISE EXCEPTION 'a shard of % cannot be changed', place.name;
            END IF;
        END IF;
    END LOOP;
END $$;
