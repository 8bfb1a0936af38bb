DROP INDEX employees_by_wide_key;
DROP INDEX attributes_by_twin;
DROP INDEX departments_by_twin;
DROP INDEX employees_by_twin;
ALTER TABLE attributes DROP COLUMN twin;
ALTER TABLE departments DROP COLUMN twin;
ALTER TABLE employees DROP COLUMN twin;
