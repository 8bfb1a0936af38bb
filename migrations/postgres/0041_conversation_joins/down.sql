ALTER TABLE conversations DROP COLUMN joins;
