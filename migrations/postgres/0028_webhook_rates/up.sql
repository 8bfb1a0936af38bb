-- Rate of a receiver, null if there is none, and its lease: the worker that sends, and the end of its right.
ALTER TABLE webhooks ADD COLUMN max_per_second bigint;
ALTER TABLE webhooks ADD COLUMN rate_worker uuid;
ALTER TABLE webhooks ADD COLUMN rate_until timestamptz;
