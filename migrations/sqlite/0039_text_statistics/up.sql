-- SQLite copies no values: nothing runs ANALYZE on it.
SELECT 1;
