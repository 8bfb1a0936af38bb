-- The index of words. What a row is found by is put into it later: until then the row waits here, named by whoever wrote
-- it, in the same transaction. A search looks at these rows one by one.
CREATE TABLE search_pending (
    tenant_id BLOB NOT NULL,
    table_name TEXT NOT NULL,
    id BLOB NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, table_name, id)
) STRICT, WITHOUT ROWID;

-- Documents that were indexed together. Segments never change: `replaced_at` says since when others have what one had, and
-- it is removed once no search can be reading it any more.
CREATE TABLE search_segments (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    table_name TEXT NOT NULL,
    documents INTEGER NOT NULL,
    newest INTEGER NOT NULL,
    oldest INTEGER NOT NULL,
    fences BLOB NOT NULL,
    replaced_at INTEGER,
    PRIMARY KEY (tenant_id, id)
) STRICT;
-- Removal, over all tenants.
CREATE INDEX search_segments_by_replaced_at ON search_segments (replaced_at) WHERE replaced_at IS NOT NULL;

-- The terms of a segment in their order, some in each block, with the numbers of the documents that have them.
CREATE TABLE search_blocks (
    tenant_id BLOB NOT NULL,
    segment_id BLOB NOT NULL,
    first_key BLOB NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (tenant_id, segment_id, first_key)
) STRICT;

-- The documents of a segment by their numbers, some in each chunk.
CREATE TABLE search_chunks (
    tenant_id BLOB NOT NULL,
    segment_id BLOB NOT NULL,
    number INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (tenant_id, segment_id, number)
) STRICT;

-- Tables with rows from before, which the service indexes piece by piece: those up to this id are.
CREATE TABLE search_backlog (
    tenant_id BLOB NOT NULL,
    table_name TEXT NOT NULL,
    after_id BLOB NOT NULL,
    PRIMARY KEY (tenant_id, table_name)
) STRICT, WITHOUT ROWID;
INSERT INTO search_backlog SELECT tenant_id, t.column1, x'00000000000000000000000000000000'
    FROM organizations CROSS JOIN (VALUES ('observations'), ('objectives'), ('employees'), ('summaries')) AS t;
