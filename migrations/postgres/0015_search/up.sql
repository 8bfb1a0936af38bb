-- The index of words. What a row is found by is put into it later: until then the row waits here, named by whoever wrote
-- it, in the same transaction. A search looks at these rows one by one.
CREATE TABLE search_pending (
    tenant_id uuid NOT NULL,
    table_name text COLLATE "C" NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, table_name, id)
);

-- Documents that were indexed together. Segments never change: `replaced_at` says since when others have what one had, and
-- it is removed once no search can be reading it any more.
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
-- Removal, over all tenants.
CREATE INDEX search_segments_by_replaced_at ON search_segments (replaced_at) WHERE replaced_at IS NOT NULL;

-- The terms of a segment in their order, some in each block, with the numbers of the documents that have them.
CREATE TABLE search_blocks (
    tenant_id uuid NOT NULL,
    segment_id uuid NOT NULL,
    first_key bytea NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (tenant_id, segment_id, first_key)
);

-- The documents of a segment by their numbers, some in each chunk.
CREATE TABLE search_chunks (
    tenant_id uuid NOT NULL,
    segment_id uuid NOT NULL,
    number bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (tenant_id, segment_id, number)
);

-- Tables with rows from before, which the service indexes piece by piece: those up to this id are.
CREATE TABLE search_backlog (
    tenant_id uuid NOT NULL,
    table_name text COLLATE "C" NOT NULL,
    after_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, table_name)
);
INSERT INTO search_backlog SELECT tenant_id, t.name, '00000000-0000-0000-0000-000000000000'
    FROM organizations CROSS JOIN (VALUES ('observations'), ('objectives'), ('employees'), ('summaries')) AS t (name);
