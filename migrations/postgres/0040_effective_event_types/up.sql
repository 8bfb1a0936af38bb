-- Event types that are sent: those that the key could read which set the subscription. Null for older subscriptions,
-- which send all of `event_types`.
ALTER TABLE webhooks ADD COLUMN effective_event_types text;
