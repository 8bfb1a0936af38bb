-- Texts by key for other systems, as JSON, and the id of a resource in another system. Older rows have none.
ALTER TABLE observations ADD COLUMN metadata text NOT NULL DEFAULT '{}';
ALTER TABLE observations ADD COLUMN external_id text;
ALTER TABLE objectives ADD COLUMN metadata text NOT NULL DEFAULT '{}';
ALTER TABLE objectives ADD COLUMN external_id text;
ALTER TABLE summaries ADD COLUMN metadata text NOT NULL DEFAULT '{}';
ALTER TABLE summaries ADD COLUMN external_id text;
ALTER TABLE assignments ADD COLUMN metadata text NOT NULL DEFAULT '{}';
ALTER TABLE assignments ADD COLUMN external_id text;

-- Resources by a digest of key and value of their metadata. The second index finds the entries of a resource when
-- its metadata changes. A key costs two entries; a resource without metadata has none.
CREATE TABLE observation_metadata_values (
    tenant_id uuid NOT NULL,
    digest uuid NOT NULL,
    observation_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, digest, observation_id),
    CONSTRAINT observation_metadata_values_observation
        FOREIGN KEY (tenant_id, observation_id) REFERENCES observations (tenant_id, id)
);
CREATE INDEX observation_metadata_values_by_observation
    ON observation_metadata_values (tenant_id, observation_id, digest);
CREATE TABLE objective_metadata_values (
    tenant_id uuid NOT NULL,
    digest uuid NOT NULL,
    objective_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, digest, objective_id),
    CONSTRAINT objective_metadata_values_objective
        FOREIGN KEY (tenant_id, objective_id) REFERENCES objectives (tenant_id, id)
);
CREATE INDEX objective_metadata_values_by_objective ON objective_metadata_values (tenant_id, objective_id, digest);
CREATE TABLE summary_metadata_values (
    tenant_id uuid NOT NULL,
    digest uuid NOT NULL,
    summary_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, digest, summary_id),
    CONSTRAINT summary_metadata_values_summary
        FOREIGN KEY (tenant_id, summary_id) REFERENCES summaries (tenant_id, id)
);
CREATE INDEX summary_metadata_values_by_summary ON summary_metadata_values (tenant_id, summary_id, digest);
CREATE TABLE assignment_metadata_values (
    tenant_id uuid NOT NULL,
    digest uuid NOT NULL,
    assignment_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, digest, assignment_id),
    CONSTRAINT assignment_metadata_values_assignment
        FOREIGN KEY (tenant_id, assignment_id) REFERENCES assignments (tenant_id, id)
);
CREATE INDEX assignment_metadata_values_by_assignment
    ON assignment_metadata_values (tenant_id, assignment_id, digest);
