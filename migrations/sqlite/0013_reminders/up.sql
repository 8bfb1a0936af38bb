-- When the org admins are to be told that a key ends soon; null once they have been. What ended already is looked at once
-- and left alone.
ALTER TABLE api_keys ADD COLUMN remind_at INTEGER;
UPDATE api_keys SET remind_at = expires_at - 14 * 86400000 WHERE expires_at IS NOT NULL AND revoked_at IS NULL;
-- For the sweep, which looks for what is due.
CREATE INDEX api_keys_by_reminder ON api_keys (remind_at, tenant_id, id) WHERE remind_at IS NOT NULL;

-- What became of what an HR system sent last; null until it has sent something.
ALTER TABLE connectors ADD COLUMN last_sync_at INTEGER;
ALTER TABLE connectors ADD COLUMN last_sync_status TEXT;
ALTER TABLE connectors ADD COLUMN last_sync_message TEXT;

-- For the sweep, which removes what is old.
CREATE INDEX notifications_by_age ON notifications (created_at);
CREATE INDEX notifications_by_reading ON notifications (read_at) WHERE read_at IS NOT NULL;
