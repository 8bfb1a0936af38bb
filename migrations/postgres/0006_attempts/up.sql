-- Start of an attempt, and the reason of its failure. Both are null in older rows: the time inside the id
-- replaces the first, and the second is unknown.
ALTER TABLE deliveries ADD COLUMN attempted_at timestamptz;
ALTER TABLE deliveries ADD COLUMN failure text;
