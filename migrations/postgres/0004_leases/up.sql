-- Leases are separate from the due time, which is indexed: a claim writes the row and no index, if its page has
-- room for the new row version. Claims skip leased rows, which are never more than workers hold in memory.
ALTER TABLE delivery_jobs ADD COLUMN leased_until timestamptz;
ALTER TABLE delivery_jobs SET (fillfactor = 45);
