-- `wanted` has a bit for every event type that is wanted, and none while the subscription is not active; what stands
-- behind the version is recorded with the attempts, and does not count it up.
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
-- What every event is matched with.
CREATE INDEX webhooks_active ON webhooks (tenant_id, id, wanted) WHERE wanted <> 0;

-- The queue: narrow, and apart from the log. `due_at` is null while the subscription is not active, and the end of the
-- lease while `worker` has it. Nothing refers to the subscription, so that removing one does not wait for its queue.
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
-- What a walk along the subscriptions takes of each; one that is not active is not met on the way.
CREATE INDEX delivery_jobs_by_lane ON delivery_jobs (tenant_id, webhook_id, due_at) WHERE due_at IS NOT NULL;
-- What waits for its subscription to be active again, in the order in which it happened.
CREATE INDEX delivery_jobs_parked ON delivery_jobs (tenant_id, webhook_id, event_id) WHERE due_at IS NULL;

-- The log of attempts, a partition for each day. The partitions of the days to come are made by the service, which
-- drops those of days that are over for long enough; what finds no day of its own goes into the default one.
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
-- A list is a run for each status, and so is the key. By event, the log also says which of them were never delivered.
CREATE INDEX deliveries_by_type ON deliveries (tenant_id, webhook_id, status, event_type, created_at, id);
CREATE INDEX deliveries_by_event ON deliveries (tenant_id, webhook_id, status, event_id, created_at, id);
-- What is over for long enough, where it has to be removed row by row: a partition for a day is dropped as a whole.
CREATE INDEX deliveries_by_time ON deliveries_default (created_at);
