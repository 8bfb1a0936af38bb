-- Visibility to the person an observation is about, and the requester of its assignment, who also sees it.
-- Older observations are visible to their person.
ALTER TABLE observations ADD COLUMN visibility TEXT NOT NULL DEFAULT 'person';
ALTER TABLE observations ADD COLUMN requester_id BLOB;

-- Sets the requester of existing observations. `submissions` names them by text ids: the prefix obs_, then 26
-- digits of five bits each. The first two digits are one byte, each following group of eight digits is five bytes.
WITH RECURSIVE
    digits (alphabet) AS (VALUES ('0123456789ABCDEFGHJKMNPQRSTVWXYZ')),
    places (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM places WHERE n < 7),
    submitted (tenant_id, requester_id, id) AS (
        SELECT a.tenant_id, a.requester_id, o.value
        FROM assignments AS a, json_each(a.submissions) AS s, json_each(s.value, '$.observations') AS o
        WHERE a.requester_id IS NOT NULL
    ),
    decoded (tenant_id, requester_id, id) AS (
        SELECT tenant_id, requester_id, unhex(
            printf('%02x', (instr(alphabet, substr(id, 5, 1)) - 1) * 32 + instr(alphabet, substr(id, 6, 1)) - 1)
            || (SELECT printf('%010x', sum((instr(alphabet, substr(id, 14 - n, 1)) - 1) << (5 * n))) FROM places)
            || (SELECT printf('%010x', sum((instr(alphabet, substr(id, 22 - n, 1)) - 1) << (5 * n))) FROM places)
            || (SELECT printf('%010x', sum((instr(alphabet, substr(id, 30 - n, 1)) - 1) << (5 * n))) FROM places)
        ) FROM submitted, digits
    )
UPDATE observations SET requester_id = d.requester_id FROM decoded AS d
    WHERE observations.tenant_id = d.tenant_id AND observations.id = d.id;

-- Observations by author and by requester: two parts of the list that a person sees.
CREATE INDEX observations_by_author ON observations (tenant_id, author_id, archived, observation_date, id)
    WHERE author_id IS NOT NULL;
CREATE INDEX observations_by_requester ON observations (tenant_id, requester_id, archived, observation_date, id)
    WHERE requester_id IS NOT NULL;
