-- Rows that a legal hold of another person keeps from an erasure, and the time at which it looks for them again.
ALTER TABLE erasures ADD COLUMN kept_by_hold bigint;
ALTER TABLE erasures ADD COLUMN resumes_at timestamptz;
