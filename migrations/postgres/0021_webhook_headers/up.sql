-- Form of delivered events, and custom headers with sealed values as JSON. Older subscriptions get whole resources and
-- have no headers.
ALTER TABLE webhooks ADD COLUMN payload text NOT NULL DEFAULT 'full';
ALTER TABLE webhooks ADD COLUMN headers text;
