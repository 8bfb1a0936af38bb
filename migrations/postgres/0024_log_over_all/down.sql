DROP INDEX observations_by_type;
DROP INDEX deliveries_by_webhook;
DROP INDEX deliveries_by_attempt;
ALTER TABLE deliveries DROP COLUMN request_id;
ALTER TABLE events DROP COLUMN request_id;
