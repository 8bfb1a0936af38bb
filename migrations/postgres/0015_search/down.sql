DROP TABLE search_backlog;
DROP TABLE search_chunks;
DROP TABLE search_blocks;
DROP TABLE search_segments;
DROP TABLE search_pending;
