ALTER TABLE employees DROP COLUMN address_changed_at;
