-- Visibility to the person an observation is about, and the requester of its assignment, who also sees it.
-- Older observations are visible to their person.
ALTER TABLE observations ADD COLUMN visibility text NOT NULL DEFAULT 'person';
ALTER TABLE observations ADD COLUMN requester_id uuid;

-- Sets the requester of existing observations. `submissions` names them by text ids: the prefix obs_, then 26
-- digits of five bits each. The first two digits are one byte, each following group of eight digits is five bytes.
UPDATE observations SET requester_id = d.requester_id FROM (
    SELECT a.tenant_id, a.requester_id, (
        lpad(to_hex((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(o.id, 5, 1)) - 1) * 32
            + strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(o.id, 6, 1)) - 1), 2, '0')
        || (SELECT lpad(to_hex(sum((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(o.id, 14 - n, 1)) - 1)::bigint << (5 * n))::bigint), 10, '0')
            FROM generate_series(0, 7) AS n)
        || (SELECT lpad(to_hex(sum((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(o.id, 22 - n, 1)) - 1)::bigint << (5 * n))::bigint), 10, '0')
            FROM generate_series(0, 7) AS n)
        || (SELECT lpad(to_hex(sum((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(o.id, 30 - n, 1)) - 1)::bigint << (5 * n))::bigint), 10, '0')
            FROM generate_series(0, 7) AS n)
    )::uuid AS id
    FROM assignments AS a
        CROSS JOIN LATERAL jsonb_array_elements(a.submissions::jsonb) AS s (value)
        CROSS JOIN LATERAL jsonb_array_elements_text(s.value -> 'observations') AS o (id)
    WHERE a.requester_id IS NOT NULL
) AS d WHERE observations.tenant_id = d.tenant_id AND observations.id = d.id;

-- Observations by author and by requester: two parts of the list that a person sees.
CREATE INDEX observations_by_author ON observations (tenant_id, author_id, archived, observation_date, id)
    WHERE author_id IS NOT NULL;
CREATE INDEX observations_by_requester ON observations (tenant_id, requester_id, archived, observation_date, id)
    WHERE requester_id IS NOT NULL;
