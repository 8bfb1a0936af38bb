-- The index of words gets terms for the people who may read a document, so that a search of a bound key reads no row that
-- is hidden from it. Segments without these terms are removed; the service builds the index anew beside its work.
DELETE FROM search_blocks WHERE (tenant_id, segment_id) IN
    (SELECT tenant_id, id FROM search_segments WHERE table_name IN ('observations', 'objectives', 'summaries'));
DELETE FROM search_chunks WHERE (tenant_id, segment_id) IN
    (SELECT tenant_id, id FROM search_segments WHERE table_name IN ('observations', 'objectives', 'summaries'));
DELETE FROM search_segments WHERE table_name IN ('observations', 'objectives', 'summaries');
DELETE FROM search_backlog WHERE table_name IN ('observations', 'objectives', 'summaries');
INSERT INTO search_backlog SELECT tenant_id, t.column1, x'00000000000000000000000000000000'
    FROM organizations CROSS JOIN (VALUES ('observations'), ('objectives'), ('summaries')) AS t;
