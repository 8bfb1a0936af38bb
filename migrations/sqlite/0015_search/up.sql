-- Rows that wait for the full-text index. The transaction that writes a row adds it here, and workers index it
-- later. Searches read these rows one by one.
CREATE TABLE search_pending (
    tenant_id BLOB NOT NULL,
    table_name TEXT NOT NULL,
    id BLOB NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, table_name, id)
) STRICT, WITHOUT ROWID;

-- Segments of the full-text index: documents that were indexed together. Segments are immutable. `replaced_at`
-- is the time at which a merge replaced the segment, which is deleted when no search can read it any more.
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
-- For the deletion of replaced segments of all tenants.
CREATE INDEX search_segments_by_replaced_at ON search_segments (replaced_at) WHERE replaced_at IS NOT NULL;

-- Blocks of a segment: terms in sorted order with the numbers of their documents.
CREATE TABLE search_blocks (
    tenant_id BLOB NOT NULL,
    segment_id BLOB NOT NULL,
    first_key BLOB NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (tenant_id, segment_id, first_key)
) STRICT;

-- Chunks of a segment: the keys of its documents, by document number.
CREATE TABLE search_chunks (
    tenant_id BLOB NOT NULL,
    segment_id BLOB NOT NULL,
    number INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (tenant_id, segment_id, number)
) STRICT;

-- Tables whose older rows the service indexes in batches, in the order of ids. Rows up to `after_id` are indexed.
CREATE TABLE search_backlog (
    tenant_id BLOB NOT NULL,
    table_name TEXT NOT NULL,
    after_id BLOB NOT NULL,
    PRIMARY KEY (tenant_id, table_name)
) STRICT, WITHOUT ROWID;
INSERT INTO search_backlog SELECT tenant_id, t.column1, x'00000000000000000000000000000000'
    FROM organizations CROSS JOIN (VALUES ('observations'), ('objectives'), ('employees'), ('summaries')) AS t;
