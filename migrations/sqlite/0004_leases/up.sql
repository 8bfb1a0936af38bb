-- A lease is no part of the due time, which indexes lead along: a claim writes the row and no index. Whoever claims
-- passes over what is leased, which is never more than workers hold in memory.
ALTER TABLE delivery_jobs ADD COLUMN leased_until INTEGER;
