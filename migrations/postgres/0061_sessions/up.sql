-- Sessions of people who signed in at an identity provider, and the keys that they created: `session_id` is the session of
-- a key. A session names its account and, if the provider states one, the session at the provider.
ALTER TABLE api_keys ADD COLUMN kind text NOT NULL DEFAULT 'key';
ALTER TABLE api_keys ADD COLUMN session_id uuid;
ALTER TABLE api_keys ADD COLUMN identity_provider_id uuid;
ALTER TABLE api_keys ADD COLUMN identity_subject text;
ALTER TABLE api_keys ADD COLUMN identity_sid text;
-- The list of the keys of a kind, in its two orders.
CREATE INDEX api_keys_by_kind ON api_keys (tenant_id, kind, created_at, id);
CREATE INDEX api_keys_by_kind_and_change ON api_keys (tenant_id, kind, updated_at, id);
-- A sign-in reads the sessions of its person.
CREATE INDEX api_keys_by_employee_and_kind ON api_keys (tenant_id, employee_id, kind, created_at, id);
-- A logout at the provider ends the sessions that came from one session there.
CREATE INDEX api_keys_by_identity_sid ON api_keys (tenant_id, identity_provider_id, identity_sid, created_at, id);
-- A sign-in finds its provider before it knows the tenant.
CREATE INDEX identity_providers_by_id ON identity_providers (id);

-- No statistics of columns with texts of people, see 0039. Citus does not forward the change to the shards of a table that
-- is distributed already.
DO $$
DECLARE
    is_changed boolean;
BEGIN
    PERFORM set_config('citus.enable_ddl_propagation', 'off', true);
    ALTER TABLE api_keys ALTER COLUMN identity_subject SET STATISTICS 0, ALTER COLUMN identity_sid SET STATISTICS 0;
    IF to_regclass('pg_dist_partition') IS NOT NULL THEN
        EXECUTE 'SELECT bool_and(r.success) FROM pg_dist_partition AS p, '
            'run_command_on_shards(p.logicalrelid, $1) AS r WHERE p.logicalrelid = $2::regclass'
            INTO is_changed
            USING 'ALTER TABLE %s ALTER COLUMN identity_subject SET STATISTICS 0, '
                'ALTER COLUMN identity_sid SET STATISTICS 0', 'api_keys';
        IF NOT is_changed THEN
            RAISE EXCEPTION 'a shard of api_keys cannot be changed';
        END IF;
    END IF;
END $$;
