ALTER TABLE delivery_jobs DROP COLUMN leased_until;
