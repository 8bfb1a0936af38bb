-- `wanted` has a bit for every subscribed event type, and no bits while the subscription is inactive. Attempts
-- update the columns after the version without a new version.
CREATE TABLE webhooks (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    url text NOT NULL,
    event_types text NOT NULL,
    active boolean NOT NULL,
    description text,
    secrets text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    wanted bigint NOT NULL,
    version bigint NOT NULL,
    last_delivery_at timestamptz,
    last_delivery_status text,
    failures bigint,
    failing_since timestamptz,
    PRIMARY KEY (tenant_id, id)
) WITH (fillfactor = 80);
CREATE INDEX webhooks_by_created_at ON webhooks (tenant_id, created_at, id);
CREATE INDEX webhooks_by_updated_at ON webhooks (tenant_id, updated_at, id);
-- Active subscriptions, which each new event is matched with.
CREATE INDEX webhooks_active ON webhooks (tenant_id, id, wanted) WHERE wanted <> 0;

-- Delivery queue: narrow, and separate from the log. `due_at` is null while the subscription is inactive, and
-- the end of the lease while `worker` has one. Without a foreign key to the subscription, so that its deletion
-- does not wait for its queue.
CREATE TABLE delivery_jobs (
    tenant_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event_id uuid NOT NULL,
    event_type text NOT NULL,
    attempt bigint NOT NULL,
    first_due_at timestamptz NOT NULL,
    origin text NOT NULL,
    delivery_id uuid,
    due_at timestamptz,
    worker uuid,
    PRIMARY KEY (tenant_id, webhook_id, event_id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX delivery_jobs_by_due_time ON delivery_jobs (due_at) WHERE due_at IS NOT NULL;
-- For claims, which take some deliveries of each subscription and skip inactive ones.
CREATE INDEX delivery_jobs_by_lane ON delivery_jobs (tenant_id, webhook_id, due_at) WHERE due_at IS NOT NULL;
-- Deliveries of inactive subscriptions, in the order of their events.
CREATE INDEX delivery_jobs_parked ON delivery_jobs (tenant_id, webhook_id, event_id) WHERE due_at IS NULL;

-- Log of attempts, with a partition for each day. The service creates the partitions of coming days and drops
-- expired ones. Rows without a partition of their day go into the default partition.
CREATE TABLE deliveries (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event_id uuid NOT NULL,
    event_type text NOT NULL,
    attempt bigint NOT NULL,
    status text NOT NULL,
    request_url text NOT NULL,
    response_status bigint NOT NULL,
    response_duration_ms bigint NOT NULL,
    next_attempt_at timestamptz,
    delivered_at timestamptz,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, webhook_id, status, created_at, id)
) PARTITION BY RANGE (created_at);
CREATE TABLE deliveries_default PARTITION OF deliveries DEFAULT;
-- The status precedes the sort columns, so a list reads a range for each status. The index by event also finds
-- undelivered events.
CREATE INDEX deliveries_by_type ON deliveries (tenant_id, webhook_id, status, event_type, created_at, id);
CREATE INDEX deliveries_by_event ON deliveries (tenant_id, webhook_id, status, event_id, created_at, id);
-- Expired rows of the default partition, which are deleted one by one. Partitions of days are dropped.
CREATE INDEX deliveries_by_time ON deliveries_default (created_at);
