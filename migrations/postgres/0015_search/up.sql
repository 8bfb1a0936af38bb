-- The words by which a row is found, with a few characters for tenant and table in front of each: empty where it is not
-- found, null in rows from before. A search reads the entries that wait to be put into such an index, so few may.
ALTER TABLE observations ADD COLUMN tokens tsvector;
CREATE INDEX observations_by_tokens ON observations USING gin (tokens) WITH (gin_pending_list_limit = 128);
ALTER TABLE objectives ADD COLUMN tokens tsvector;
CREATE INDEX objectives_by_tokens ON objectives USING gin (tokens) WITH (gin_pending_list_limit = 128);
ALTER TABLE employees ADD COLUMN tokens tsvector;
CREATE INDEX employees_by_tokens ON employees USING gin (tokens) WITH (gin_pending_list_limit = 128);
ALTER TABLE summaries ADD COLUMN tokens tsvector;
CREATE INDEX summaries_by_tokens ON summaries USING gin (tokens) WITH (gin_pending_list_limit = 128);

-- Tables with rows from before, which the service indexes piece by piece: those up to this id are.
CREATE TABLE search_backlog (
    tenant_id uuid NOT NULL,
    table_name text NOT NULL,
    after_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, table_name)
);
INSERT INTO search_backlog SELECT tenant_id, t.name, '00000000-0000-0000-0000-000000000000'
    FROM organizations CROSS JOIN (VALUES ('observations'), ('objectives'), ('employees'), ('summaries')) AS t (name);
