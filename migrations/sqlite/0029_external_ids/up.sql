-- For lookups by external id. Only rows with an external id have an entry, so other writes do not change them. In a
-- migration of their own, because building an index while 0025 holds its locks would block reads.
CREATE UNIQUE INDEX observations_external_id
    ON observations (tenant_id, external_id) WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX objectives_external_id ON objectives (tenant_id, external_id) WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX summaries_external_id ON summaries (tenant_id, external_id) WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX assignments_external_id ON assignments (tenant_id, external_id) WHERE external_id IS NOT NULL;
