-- Legal hold on the data of a person: its reason and its beginning. Both are null without a hold.
ALTER TABLE employees ADD COLUMN hold_reason TEXT;
ALTER TABLE employees ADD COLUMN held_at INTEGER;
