ALTER TABLE webhooks DROP COLUMN rate_until;
ALTER TABLE webhooks DROP COLUMN rate_worker;
ALTER TABLE webhooks DROP COLUMN max_per_second;
