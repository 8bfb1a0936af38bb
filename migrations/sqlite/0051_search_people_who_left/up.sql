-- Searches find people who left by `filter[status]`. They were not in the index, so all people are indexed anew in the
-- background. The documents of the others stay found by their words meanwhile.
DELETE FROM search_backlog WHERE table_name = 'employees';
INSERT INTO search_backlog SELECT tenant_id, 'employees', x'00000000000000000000000000000000' FROM organizations;
