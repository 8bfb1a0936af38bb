ALTER TABLE reporting_trees DROP COLUMN rebuilt_until;
