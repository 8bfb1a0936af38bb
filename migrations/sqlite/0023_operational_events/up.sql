-- Results of attempts, like the columns before them: whether a delivery has failed five times since the newest
-- success, and the time of the failure whose event `webhook.failing` is due.
ALTER TABLE webhooks ADD COLUMN is_failing INTEGER;
ALTER TABLE webhooks ADD COLUMN failing_due INTEGER;
-- For the sweep that fires the events of all tenants.
CREATE INDEX webhooks_by_failing_due ON webhooks (failing_due, tenant_id, id) WHERE failing_due IS NOT NULL;

-- Due times of the event `api_key.expiring`, for the end of the key and of the secret before a rotation; null after
-- the event.
ALTER TABLE api_keys ADD COLUMN expiring_due INTEGER;
ALTER TABLE api_keys ADD COLUMN previous_expiring_due INTEGER;
UPDATE api_keys SET expiring_due = expires_at - 7 * 86400000 WHERE expires_at IS NOT NULL AND revoked_at IS NULL;
-- For the sweep that fires the events of all tenants.
CREATE INDEX api_keys_by_expiring_due ON api_keys (expiring_due, tenant_id, id) WHERE expiring_due IS NOT NULL;
CREATE INDEX api_keys_by_previous_expiring_due ON api_keys (previous_expiring_due, tenant_id, id)
    WHERE previous_expiring_due IS NOT NULL;
