-- Key results as JSON, with decimals in ten-thousandths, and the figures of the last check-ins. Null: there are none.
ALTER TABLE objectives ADD COLUMN key_results TEXT;
ALTER TABLE objectives ADD COLUMN stated_progress INTEGER;
ALTER TABLE objectives ADD COLUMN confidence TEXT;
ALTER TABLE objectives ADD COLUMN last_check_in_at INTEGER;
-- The objective that this one supports. Without a foreign key, which SQLite cannot add to a table: erasures and the
-- retention set it to null.
ALTER TABLE objectives ADD COLUMN parent_id BLOB;
-- The word of the filter, `none` for null, and the time of the order, in which null is the earliest.
ALTER TABLE objectives ADD COLUMN confidence_key TEXT NOT NULL DEFAULT 'none';
ALTER TABLE objectives ADD COLUMN checked_in_at INTEGER NOT NULL DEFAULT 0;
-- Objectives that support one, by status.
CREATE INDEX objectives_by_parent ON objectives (tenant_id, parent_id, scope_status, period_end, id);
-- Lists by confidence: the default one, and those by status.
CREATE INDEX objectives_by_confidence ON objectives (tenant_id, shelf, confidence_key, period_end, id);
CREATE INDEX objectives_by_status_and_confidence
    ON objectives (tenant_id, scope_status, confidence_key, period_end, id);
-- Lists by the last check-in.
CREATE INDEX objectives_by_check_in ON objectives (tenant_id, shelf, checked_in_at, id);
CREATE INDEX objectives_by_status_and_check_in ON objectives (tenant_id, scope_status, checked_in_at, id);

-- Check-ins are immutable. `owner_id` is the owner of the objective, who never changes.
CREATE TABLE check_ins (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    objective_id BLOB NOT NULL,
    owner_id BLOB NOT NULL,
    author_id BLOB,
    progress INTEGER,
    confidence TEXT,
    note TEXT,
    key_results TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT check_ins_objective FOREIGN KEY (tenant_id, objective_id) REFERENCES objectives (tenant_id, id),
    CONSTRAINT check_ins_author FOREIGN KEY (tenant_id, author_id) REFERENCES employees (tenant_id, id)
) STRICT;
CREATE INDEX check_ins_by_objective ON check_ins (tenant_id, objective_id, created_at, id);
-- The check-ins about a person and by a person, for access requests.
CREATE INDEX check_ins_by_owner ON check_ins (tenant_id, owner_id, created_at, id);
CREATE INDEX check_ins_by_author ON check_ins (tenant_id, author_id, created_at, id);
