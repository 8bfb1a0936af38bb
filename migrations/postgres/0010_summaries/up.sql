-- `stage` is the status, with separate values for summaries that their person sees only because they were
-- shared.
CREATE TABLE summaries (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    employee_id uuid NOT NULL,
    author_id uuid,
    title text NOT NULL,
    body text NOT NULL,
    period_start date,
    period_end date,
    status text NOT NULL,
    included_objective_ids uuid[] NOT NULL,
    included_observation_ids uuid[] NOT NULL,
    feedback_comment text,
    feedback_acknowledged boolean NOT NULL,
    feedback_at timestamptz,
    submitted_at timestamptz,
    approved_at timestamptz,
    shared_at timestamptz,
    archived_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    archived boolean NOT NULL,
    stage text NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT summaries_employee FOREIGN KEY (tenant_id, employee_id) REFERENCES employees (tenant_id, id),
    CONSTRAINT summaries_author FOREIGN KEY (tenant_id, author_id) REFERENCES employees (tenant_id, id)
);
-- All rows that are not archived are one range. The person follows the sort column, for the lists of a team.
CREATE INDEX summaries_by_created_at ON summaries (tenant_id, archived, created_at, id, employee_id);
CREATE INDEX summaries_by_updated_at ON summaries (tenant_id, archived, updated_at, id, employee_id);
-- `filter[status]` has a range for each stage. So have the lists of one person, and the summaries shared with a
-- person.
CREATE INDEX summaries_by_stage_and_created_at ON summaries (tenant_id, stage, created_at, id);
CREATE INDEX summaries_by_stage_and_updated_at ON summaries (tenant_id, stage, updated_at, id);
CREATE INDEX summaries_by_employee_and_created_at ON summaries (tenant_id, employee_id, stage, created_at, id);
CREATE INDEX summaries_by_employee_and_updated_at ON summaries (tenant_id, employee_id, stage, updated_at, id);
CREATE INDEX summaries_by_author_and_created_at ON summaries (tenant_id, author_id, stage, created_at, id);
CREATE INDEX summaries_by_author_and_updated_at ON summaries (tenant_id, author_id, stage, updated_at, id);

-- Summaries by included objective or observation, which are never deleted. Links of an objective are read from
-- here, so the objective itself is not written.
CREATE TABLE summary_includes (
    tenant_id uuid NOT NULL,
    included_id uuid NOT NULL,
    summary_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, included_id, summary_id),
    CONSTRAINT summary_includes_summary FOREIGN KEY (tenant_id, summary_id) REFERENCES summaries (tenant_id, id)
);
CREATE INDEX summary_includes_by_summary ON summary_includes (tenant_id, summary_id, included_id);

ALTER TABLE objectives DROP COLUMN linked_summary_ids;
