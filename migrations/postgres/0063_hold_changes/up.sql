-- Number of changes of the legal hold of a person, which the `ETag` of the person leaves out. Null for older rows: zero.
ALTER TABLE employees ADD COLUMN hold_changes bigint;
