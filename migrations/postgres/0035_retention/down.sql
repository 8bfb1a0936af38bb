DROP TABLE retention_runs;
DROP INDEX employees_left;
ALTER TABLE employees DROP COLUMN left_at;
DROP INDEX organizations_retention_due;
ALTER TABLE organizations DROP COLUMN retention_due_at;
ALTER TABLE organizations DROP COLUMN retention_starts;
ALTER TABLE organizations DROP COLUMN retention;
