DROP TABLE scim_requests;
DROP TABLE sync_issues;
DROP INDEX employees_by_hris_source;
DROP TABLE scim_users;
