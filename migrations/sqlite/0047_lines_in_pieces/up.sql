-- Last person whose reporting lines are rebuilt after a move of many people. Null if all lines are complete.
ALTER TABLE reporting_trees ADD COLUMN rebuilt_until BLOB;
