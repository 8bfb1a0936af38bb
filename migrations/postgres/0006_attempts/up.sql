-- When an attempt was begun, and why it was not acknowledged. Both stay null in rows from before: the time inside the
-- id stands in for the first, and the second is not known.
ALTER TABLE deliveries ADD COLUMN attempted_at timestamptz;
ALTER TABLE deliveries ADD COLUMN failure text;
