-- Job titles of people.
ALTER TABLE employees ADD COLUMN job_title TEXT;
-- For filter[job_title].
CREATE INDEX employees_by_job_title ON employees (tenant_id, job_title, status, last_name_key, id);
