-- Terms for the people who may read a document, so that a search of a bound key reads no hidden row. Segments
-- without these terms are deleted, and the service rebuilds the index in the background.
DELETE FROM search_blocks WHERE (tenant_id, segment_id) IN
    (SELECT tenant_id, id FROM search_segments WHERE table_name IN ('observations', 'objectives', 'summaries'));
DELETE FROM search_chunks WHERE (tenant_id, segment_id) IN
    (SELECT tenant_id, id FROM search_segments WHERE table_name IN ('observations', 'objectives', 'summaries'));
DELETE FROM search_segments WHERE table_name IN ('observations', 'objectives', 'summaries');
DELETE FROM search_backlog WHERE table_name IN ('observations', 'objectives', 'summaries');
INSERT INTO search_backlog SELECT tenant_id, t.column1, x'00000000000000000000000000000000'
    FROM organizations CROSS JOIN (VALUES ('observations'), ('objectives'), ('summaries')) AS t;
