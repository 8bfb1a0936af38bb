-- Time at which org admins are notified of a key that expires soon; null after the notification. Keys that have
-- already expired are checked once and ignored.
ALTER TABLE api_keys ADD COLUMN remind_at timestamptz;
UPDATE api_keys SET remind_at = expires_at - interval '14 days' WHERE expires_at IS NOT NULL AND revoked_at IS NULL;
-- For the reminder sweep, which queries due keys of all tenants.
CREATE INDEX api_keys_by_reminder ON api_keys (remind_at, tenant_id, id) WHERE remind_at IS NOT NULL;

-- Result of the last upload of an HR system; null before the first one.
ALTER TABLE connectors ADD COLUMN last_sync_at timestamptz;
ALTER TABLE connectors ADD COLUMN last_sync_status text;
ALTER TABLE connectors ADD COLUMN last_sync_message text;

-- For the sweep that deletes expired notifications of all tenants.
CREATE INDEX notifications_by_age ON notifications (created_at);
CREATE INDEX notifications_by_reading ON notifications (read_at) WHERE read_at IS NOT NULL;
