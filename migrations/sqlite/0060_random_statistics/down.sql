-- SQLite has no statistics: nothing runs ANALYZE on it.
SELECT 1;
