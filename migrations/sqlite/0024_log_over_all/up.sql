-- Id of the request that caused an event. Null for events of background work and for older rows. The log repeats
-- it, because events are removed before the last of their attempts.
ALTER TABLE events ADD COLUMN request_id TEXT;
ALTER TABLE deliveries ADD COLUMN request_id TEXT;

-- Attempts from before 0006 get the time of their id, so that they have a place in the order of the indexes.
UPDATE deliveries SET attempted_at = created_at WHERE attempted_at IS NULL;

-- For the list over all subscriptions: a list reads a range for each status. Every attempt writes one entry more,
-- at the end of a range.
CREATE INDEX deliveries_by_attempt ON deliveries (tenant_id, status, attempted_at, id);
-- For that list with one subscription, and for the statistics of a subscription, which read only this index. Costs
-- as much as the index above.
CREATE INDEX deliveries_by_webhook ON deliveries
    (tenant_id, webhook_id, status, attempted_at, id, response_duration_ms, failure);

-- For counts by type and month, and for lists of one type: they read only this index. A new observation writes one
-- entry more, an update of other columns on the same page none.
CREATE INDEX observations_by_type ON observations
    (tenant_id, archived, type, observation_date, id, employee_id);
