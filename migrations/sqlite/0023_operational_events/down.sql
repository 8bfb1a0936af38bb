DROP INDEX api_keys_by_previous_expiring_due;
DROP INDEX api_keys_by_expiring_due;
ALTER TABLE api_keys DROP COLUMN previous_expiring_due;
ALTER TABLE api_keys DROP COLUMN expiring_due;
DROP INDEX webhooks_by_failing_due;
ALTER TABLE webhooks DROP COLUMN failing_due;
ALTER TABLE webhooks DROP COLUMN is_failing;
