ALTER TABLE deliveries DROP COLUMN failure;
ALTER TABLE deliveries DROP COLUMN attempted_at;
