DROP INDEX api_keys_by_employee;
DROP INDEX sync_issues_open_by_employee;
DROP INDEX api_keys_by_holder;
