-- Rows that wait for the full-text index. The transaction that writes a row adds it here, and workers index it
-- later. Searches read these rows one by one.
CREATE TABLE search_pending (
    tenant_id uuid NOT NULL,
    table_name text COLLATE "C" NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, table_name, id)
);

-- Segments of the full-text index: documents that were indexed together. Segments are immutable. `replaced_at`
-- is the time at which a merge replaced the segment, which is deleted when no search can read it any more.
CREATE TABLE search_segments (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    table_name text COLLATE "C" NOT NULL,
    documents bigint NOT NULL,
    newest timestamptz NOT NULL,
    oldest timestamptz NOT NULL,
    fences bytea NOT NULL,
    replaced_at timestamptz,
    PRIMARY KEY (tenant_id, id)
);
-- For the deletion of replaced segments of all tenants.
CREATE INDEX search_segments_by_replaced_at ON search_segments (replaced_at) WHERE replaced_at IS NOT NULL;

-- Blocks of a segment: terms in sorted order with the numbers of their documents.
CREATE TABLE search_blocks (
    tenant_id uuid NOT NULL,
    segment_id uuid NOT NULL,
    first_key bytea NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (tenant_id, segment_id, first_key)
);

-- Chunks of a segment: the keys of its documents, by document number.
CREATE TABLE search_chunks (
    tenant_id uuid NOT NULL,
    segment_id uuid NOT NULL,
    number bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (tenant_id, segment_id, number)
);

-- Tables whose older rows the service indexes in batches, in the order of ids. Rows up to `after_id` are indexed.
CREATE TABLE search_backlog (
    tenant_id uuid NOT NULL,
    table_name text COLLATE "C" NOT NULL,
    after_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, table_name)
);
INSERT INTO search_backlog SELECT tenant_id, t.name, '00000000-0000-0000-0000-000000000000'
    FROM organizations CROSS JOIN (VALUES ('observations'), ('objectives'), ('employees'), ('summaries')) AS t (name);
