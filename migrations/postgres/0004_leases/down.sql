ALTER TABLE delivery_jobs SET (fillfactor = 80);
ALTER TABLE delivery_jobs DROP COLUMN leased_until;
