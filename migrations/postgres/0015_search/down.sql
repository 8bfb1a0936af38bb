DROP TABLE search_backlog;
ALTER TABLE summaries DROP COLUMN tokens;
ALTER TABLE employees DROP COLUMN tokens;
ALTER TABLE objectives DROP COLUMN tokens;
ALTER TABLE observations DROP COLUMN tokens;
