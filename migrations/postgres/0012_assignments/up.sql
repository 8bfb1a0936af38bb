-- `due_by` is the due date, or the last day there is, so that what has none stands at the end. `submissions` has those
-- who have submitted.
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

-- Who has to do with an assignment, and so sees it. A person who asked for it has the highest bit of the id set, which is
-- clear in an id, and so has no foreign key.
CREATE TABLE assignment_people (
    tenant_id uuid NOT NULL,
    person uuid NOT NULL,
    assignment_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, person, assignment_id),
    CONSTRAINT assignment_people_assignment FOREIGN KEY (tenant_id, assignment_id) REFERENCES assignments (tenant_id, id)
);
CREATE INDEX assignment_people_by_assignment ON assignment_people (tenant_id, assignment_id, person);
