-- Rows that a legal hold of another person keeps from an erasure, and the time at which it looks for them again.
ALTER TABLE erasures ADD COLUMN kept_by_hold INTEGER;
ALTER TABLE erasures ADD COLUMN resumes_at INTEGER;
