-- `due_by` is the due date, or the last possible day, so that assignments without one come last. `submissions`
-- has the reviewers who have submitted.
CREATE TABLE assignments (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    employee_id uuid NOT NULL,
    requester_id uuid,
    title text NOT NULL,
    instructions text,
    due_date date,
    reviewer_ids uuid[] NOT NULL,
    required_submissions bigint NOT NULL,
    status text NOT NULL,
    submissions text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    due_by date NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT assignments_employee FOREIGN KEY (tenant_id, employee_id) REFERENCES employees (tenant_id, id),
    CONSTRAINT assignments_requester FOREIGN KEY (tenant_id, requester_id) REFERENCES employees (tenant_id, id)
);
CREATE INDEX assignments_by_created_at ON assignments (tenant_id, status, created_at, id);
CREATE INDEX assignments_by_due_by ON assignments (tenant_id, status, due_by, id);
CREATE INDEX assignments_by_updated_at ON assignments (tenant_id, status, updated_at, id);
CREATE INDEX assignments_by_employee ON assignments (tenant_id, employee_id, status, created_at, id);
CREATE INDEX assignments_by_requester ON assignments (tenant_id, requester_id, status, created_at, id);

-- Requester and reviewers of an assignment, who see it. `person` is a reviewer's id, or the requester's id with
-- its highest bit set, which is clear in all ids. The column therefore has no foreign key.
CREATE TABLE assignment_people (
    tenant_id uuid NOT NULL,
    person uuid NOT NULL,
    assignment_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, person, assignment_id),
    CONSTRAINT assignment_people_assignment FOREIGN KEY (tenant_id, assignment_id) REFERENCES assignments (tenant_id, id)
);
CREATE INDEX assignment_people_by_assignment ON assignment_people (tenant_id, assignment_id, person);
