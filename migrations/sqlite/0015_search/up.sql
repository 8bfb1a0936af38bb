-- The words by which resources are found, with a few characters for tenant and table in front of each, in the order in
-- which the resources were created; deleted rows of it are only marked until they are merged away.
CREATE VIRTUAL TABLE search_tokens USING fts5(tokens, content='', contentless_delete=1, detail=none, tokenize='ascii');

-- Whose the rows of search_tokens are: `place` is its row id, the milliseconds of the creation and then a number.
CREATE TABLE search_documents (
    place INTEGER PRIMARY KEY,
    tenant_id BLOB NOT NULL,
    table_name TEXT NOT NULL,
    id BLOB NOT NULL,
    UNIQUE (tenant_id, table_name, id)
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
