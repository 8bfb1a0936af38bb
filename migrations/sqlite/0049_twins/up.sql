-- True for a row whose key another row has: they were different before keys were compared as they are now. Such a row
-- keeps its former key. Null for all others. The next start of the service computes the keys of older rows.
ALTER TABLE employees ADD COLUMN twin INTEGER;
ALTER TABLE departments ADD COLUMN twin INTEGER;
ALTER TABLE attributes ADD COLUMN twin INTEGER;
-- `candor doctor` lists these rows.
CREATE INDEX employees_by_twin ON employees (tenant_id, twin, id) WHERE twin IS NOT NULL;
CREATE INDEX departments_by_twin ON departments (tenant_id, twin, id) WHERE twin IS NOT NULL;
CREATE INDEX attributes_by_twin ON attributes (tenant_id, twin, id) WHERE twin IS NOT NULL;
-- Addresses with a key of other than ASCII characters, whose keys a start of the service compares.
CREATE INDEX employees_by_wide_key ON employees (tenant_id, id) WHERE octet_length(email_key) <> length(email_key);
