-- Times from which people who were added by somebody in the conversation see messages. Null if all see everything.
ALTER TABLE conversations ADD COLUMN joins text;
