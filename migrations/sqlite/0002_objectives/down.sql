DROP INDEX employees_by_role;
DROP TABLE notifications;
DROP TABLE objectives;
