DROP INDEX employees_by_job_title;
ALTER TABLE employees DROP COLUMN job_title;
