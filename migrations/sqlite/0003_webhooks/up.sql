-- `wanted` has a bit for every subscribed event type, and no bits while the subscription is inactive. Attempts
-- update the columns after the version without a new version.
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
-- Active subscriptions, which each new event is matched with.
CREATE INDEX webhooks_active ON webhooks (tenant_id, id, wanted) WHERE wanted <> 0;

-- Delivery queue: narrow, and separate from the log. `due_at` is null while the subscription is inactive, and
-- the end of the lease while `worker` has one. Without a foreign key to the subscription, so that its deletion
-- does not wait for its queue.
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
-- For claims, which take some deliveries of each subscription and skip inactive ones.
CREATE INDEX delivery_jobs_by_lane ON delivery_jobs (tenant_id, webhook_id, due_at) WHERE due_at IS NOT NULL;
-- Deliveries of inactive subscriptions, in the order of their events.
CREATE INDEX delivery_jobs_parked ON delivery_jobs (tenant_id, webhook_id, event_id) WHERE due_at IS NULL;

-- Log of attempts.
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
-- The status precedes the sort columns, so a list reads a range for each status. The index by event also finds
-- undelivered events.
CREATE INDEX deliveries_by_type ON deliveries (tenant_id, webhook_id, status, event_type, created_at, id);
CREATE INDEX deliveries_by_event ON deliveries (tenant_id, webhook_id, status, event_id, created_at, id);
-- For the deletion of expired rows.
CREATE INDEX deliveries_by_time ON deliveries (created_at);
