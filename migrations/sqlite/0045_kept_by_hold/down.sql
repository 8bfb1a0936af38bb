ALTER TABLE erasures DROP COLUMN resumes_at;
ALTER TABLE erasures DROP COLUMN kept_by_hold;
