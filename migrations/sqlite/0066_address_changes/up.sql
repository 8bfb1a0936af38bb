-- Time of the last change of a person's mailbox, which keeps an account from being linked by its address. Null for a person
-- who has had one mailbox.
ALTER TABLE employees ADD COLUMN address_changed_at INTEGER;

-- Sets the time for changes before this migration. An audit entry names the person by a text id: the prefix emp_, then 26
-- digits of five bits each. The first two digits are one byte, each following group of eight digits is five bytes.
WITH RECURSIVE
    digits (alphabet) AS (VALUES ('0123456789ABCDEFGHJKMNPQRSTVWXYZ')),
    places (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM places WHERE n < 7),
    changed (tenant_id, id, changed_at) AS (
        SELECT tenant_id, target_id, max(occurred_at) FROM audit_entries
        WHERE action = 'employee.change_sign_in_address' GROUP BY tenant_id, target_id
    ),
    decoded (tenant_id, changed_at, id) AS (
        SELECT tenant_id, changed_at, unhex(
            printf('%02x', (instr(alphabet, substr(id, 5, 1)) - 1) * 32 + instr(alphabet, substr(id, 6, 1)) - 1)
            || (SELECT printf('%010x', sum((instr(alphabet, substr(id, 14 - n, 1)) - 1) << (5 * n))) FROM places)
            || (SELECT printf('%010x', sum((instr(alphabet, substr(id, 22 - n, 1)) - 1) << (5 * n))) FROM places)
            || (SELECT printf('%010x', sum((instr(alphabet, substr(id, 30 - n, 1)) - 1) << (5 * n))) FROM places)
        ) FROM changed, digits
    )
UPDATE employees SET address_changed_at = d.changed_at FROM decoded AS d
    WHERE employees.tenant_id = d.tenant_id AND employees.id = d.id AND employees.erased_at IS NULL;
