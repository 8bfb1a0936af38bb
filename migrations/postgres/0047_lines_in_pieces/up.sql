-- Last person whose reporting lines are rebuilt after a move of many people. Always null here: a move writes all lines at once,
-- because no other write of the server waits for it.
ALTER TABLE reporting_trees ADD COLUMN rebuilt_until uuid;
