DROP INDEX api_keys_by_employee_and_end;
ALTER TABLE api_keys DROP COLUMN session_ends_at;
