-- Times from which people who were added by a participant see messages. Null if all see everything.
ALTER TABLE conversations ADD COLUMN joins text;
