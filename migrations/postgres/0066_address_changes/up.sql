-- Time of the last change of a person's mailbox, which keeps an account from being linked by its address. Null for a person
-- who has had one mailbox.
ALTER TABLE employees ADD COLUMN address_changed_at timestamptz;

-- Sets the time for changes before this migration. An audit entry names the person by a text id: the prefix emp_, then 26
-- digits of five bits each. The first two digits are one byte, each following group of eight digits is five bytes.
UPDATE employees SET address_changed_at = d.changed_at FROM (
    SELECT c.tenant_id, c.changed_at, (
        lpad(to_hex((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(c.target_id, 5, 1)) - 1) * 32
            + strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(c.target_id, 6, 1)) - 1), 2, '0')
        || (SELECT lpad(to_hex(sum((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(c.target_id, 14 - n, 1)) - 1)::bigint << (5 * n))::bigint), 10, '0')
            FROM generate_series(0, 7) AS n)
        || (SELECT lpad(to_hex(sum((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(c.target_id, 22 - n, 1)) - 1)::bigint << (5 * n))::bigint), 10, '0')
            FROM generate_series(0, 7) AS n)
        || (SELECT lpad(to_hex(sum((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(c.target_id, 30 - n, 1)) - 1)::bigint << (5 * n))::bigint), 10, '0')
            FROM generate_series(0, 7) AS n)
    )::uuid AS id
    FROM (
        SELECT tenant_id, target_id, max(occurred_at) AS changed_at FROM audit_entries
        WHERE action = 'employee.change_sign_in_address' GROUP BY tenant_id, target_id
    ) AS c
) AS d WHERE employees.tenant_id = d.tenant_id AND employees.id = d.id AND employees.erased_at IS NULL;
