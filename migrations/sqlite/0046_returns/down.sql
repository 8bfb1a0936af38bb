ALTER TABLE api_keys DROP COLUMN enabled_at;
ALTER TABLE employees DROP COLUMN returned_at;
