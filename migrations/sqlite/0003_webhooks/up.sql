-- `wanted` has a bit for every event type that is wanted, and none while the subscription is not active; what stands
-- behind the version is recorded with the attempts, and does not count it up.
CREATE TABLE webhooks (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    url TEXT NOT NULL,
    event_types TEXT NOT NULL,
    active INTEGER NOT NULL,
    description TEXT,
    secrets TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    wanted INTEGER NOT NULL,
    version INTEGER NOT NULL,
    last_delivery_at INTEGER,
    last_delivery_status TEXT,
    failures INTEGER,
    failing_since INTEGER,
    PRIMARY KEY (tenant_id, id)
) STRICT;
CREATE INDEX webhooks_by_created_at ON webhooks (tenant_id, created_at, id);
CREATE INDEX webhooks_by_updated_at ON webhooks (tenant_id, updated_at, id);
-- What every event is matched with.
CREATE INDEX webhooks_active ON webhooks (tenant_id, id, wanted) WHERE wanted <> 0;

-- The queue: narrow, and apart from the log. `due_at` is null while the subscription is not active, and the end of the
-- lease while `worker` has it. Nothing refers to the subscription, so that removing one does not wait for its queue.
CREATE TABLE delivery_jobs (
    tenant_id BLOB NOT NULL,
    webhook_id BLOB NOT NULL,
    event_id BLOB NOT NULL,
    event_type TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    first_due_at INTEGER NOT NULL,
    origin TEXT NOT NULL,
    delivery_id BLOB,
    due_at INTEGER,
    worker BLOB,
    PRIMARY KEY (tenant_id, webhook_id, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_jobs_by_due_time ON delivery_jobs (due_at) WHERE due_at IS NOT NULL;
-- What a walk along the subscriptions takes of each; one that is not active is not met on the way.
CREATE INDEX delivery_jobs_by_lane ON delivery_jobs (tenant_id, webhook_id, due_at) WHERE due_at IS NOT NULL;
-- What waits for its subscription to be active again, in the order in which it happened.
CREATE INDEX delivery_jobs_parked ON delivery_jobs (tenant_id, webhook_id, event_id) WHERE due_at IS NULL;

-- The log of attempts.
CREATE TABLE deliveries (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    webhook_id BLOB NOT NULL,
    event_id BLOB NOT NULL,
    event_type TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    status TEXT NOT NULL,
    request_url TEXT NOT NULL,
    response_status INTEGER NOT NULL,
    response_duration_ms INTEGER NOT NULL,
    next_attempt_at INTEGER,
    delivered_at INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, webhook_id, status, created_at, id)
) STRICT;
-- A list is a run for each status, and so is the key. By event, the log also says which of them were never delivered.
CREATE INDEX deliveries_by_type ON deliveries (tenant_id, webhook_id, status, event_type, created_at, id);
CREATE INDEX deliveries_by_event ON deliveries (tenant_id, webhook_id, status, event_id, created_at, id);
-- What is over for long enough.
CREATE INDEX deliveries_by_time ON deliveries (created_at);
