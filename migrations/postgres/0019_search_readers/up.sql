-- Terms for the people who may read a document, so that a search of a bound key reads no hidden row. Segments
-- without these terms are deleted, and the service rebuilds the index in the background.
DELETE FROM search_blocks AS b USING search_segments AS s
    WHERE b.tenant_id = s.tenant_id AND b.segment_id = s.id AND s.table_name IN ('observations', 'objectives', 'summaries');
DELETE FROM search_chunks AS c USING search_segments AS s
    WHERE c.tenant_id = s.tenant_id AND c.segment_id = s.id AND s.table_name IN ('observations', 'objectives', 'summaries');
DELETE FROM search_segments WHERE table_name IN ('observations', 'objectives', 'summaries');
DELETE FROM search_backlog WHERE table_name IN ('observations', 'objectives', 'summaries');
INSERT INTO search_backlog SELECT tenant_id, t.name, '00000000-0000-0000-0000-000000000000'
    FROM organizations CROSS JOIN (VALUES ('observations'), ('objectives'), ('summaries')) AS t (name);
