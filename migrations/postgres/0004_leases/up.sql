-- A lease is no part of the due time, which indexes lead along: a claim writes the row and no index, where its page has
-- room for the new version of every row. Whoever claims passes over what is leased, which is never more than workers
-- hold in memory.
ALTER TABLE delivery_jobs ADD COLUMN leased_until timestamptz;
ALTER TABLE delivery_jobs SET (fillfactor = 45);
