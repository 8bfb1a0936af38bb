ALTER TABLE deliveries DROP COLUMN failure_detail;
