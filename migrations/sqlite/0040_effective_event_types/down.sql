ALTER TABLE webhooks DROP COLUMN effective_event_types;
