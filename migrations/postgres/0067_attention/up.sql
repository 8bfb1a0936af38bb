-- The end of a key of which admins are told: null for sessions, revoked keys, and keys that live for a day at most.
ALTER TABLE api_keys ADD COLUMN notable_end timestamptz;
UPDATE api_keys SET notable_end = expires_at WHERE kind = 'key' AND revoked_at IS NULL AND expires_at > created_at + interval '1 day';
-- The newest sync of a connector that is not paused, if rows of it were not applied.
ALTER TABLE connectors ADD COLUMN incomplete_at timestamptz;
UPDATE connectors SET incomplete_at = last_sync_at
    WHERE last_sync_status <> 'succeeded' AND (type <> 'scim' OR paused_at IS NULL);
-- Each kind of matter is read from a range of its own, whatever else there is.
CREATE INDEX api_keys_by_notable_end ON api_keys (tenant_id, notable_end, id);
CREATE INDEX connectors_by_pause ON connectors (tenant_id, paused_at, id);
CREATE INDEX connectors_by_incomplete_sync ON connectors (tenant_id, incomplete_at, id);
CREATE INDEX webhooks_by_activity ON webhooks (tenant_id, active, created_at, id);
CREATE INDEX webhooks_by_last_delivery ON webhooks (tenant_id, active, last_delivery_status, created_at, id);
