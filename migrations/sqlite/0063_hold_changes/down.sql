ALTER TABLE employees DROP COLUMN hold_changes;
