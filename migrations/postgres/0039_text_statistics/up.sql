-- No statistics of columns with texts of people: ANALYZE would copy values into pg_statistic, where they outlive the
-- erasure of their rows.
DO $$
DECLARE
    place record;
    is_changed boolean;
BEGIN
    -- Citus does not forward this change, so it is made on every shard.
    PERFORM set_config('citus.enable_ddl_propagation', 'off', true);
    FOR place IN
        SELECT v.name, string_agg(format('ALTER COLUMN %I SET STATISTICS 0', c), ', ') AS change
        FROM (VALUES
            ('api_keys', '{name}'),
            ('assignments', '{title, instructions, submissions, metadata, external_id}'),
            ('attributes', '{name, category, name_key}'),
            ('audit_entries', '{actor_name, changes, comment, ip, user_agent, api_key_name}'),
            ('connectors', '{last_sync_message, hris_source, mapped_custom_field_keys, custom_field_mappings}'),
            ('conversations', '{title}'),
            ('departments', '{name, name_key}'),
            ('employees', '{email, external_id, first_name, last_name, custom_fields, hris_source, job_title, email_key, first_name_key, last_name_key, hold_reason}'),
            ('erasures', '{sealed_email}'),
            ('events', '{data}'),
            ('invitations', '{mail_token}'),
            ('messages', '{body}'),
            ('notifications', '{title, body}'),
            ('objectives', '{title, description, reviewed, metadata, external_id}'),
            ('observations', '{observation, impact, recommended_action, metadata, external_id}'),
            ('organizations', '{name}'),
            ('replays', '{sealed}'),
            ('scim_requests', '{user_agent}'),
            ('scim_users', '{user_name, external_id, manager_ref, extra, user_name_key, external_key, manager_key}'),
            ('search_blocks', '{first_key, body}'),
            ('search_chunks', '{body}'),
            ('search_segments', '{fences}'),
            ('summaries', '{title, body, feedback_comment, metadata, external_id}'),
            ('sync_issues', '{user_name, external_id, message}'),
            ('webhooks', '{url, description, secrets, headers}')
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
