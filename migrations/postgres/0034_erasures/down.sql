DROP TABLE erased_rows;
DROP TABLE erasures;
ALTER TABLE employees DROP COLUMN erased_at;
