ALTER TABLE employees DROP COLUMN held_at;
ALTER TABLE employees DROP COLUMN hold_reason;
