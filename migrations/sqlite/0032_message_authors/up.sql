-- For the messages of one person in all conversations, which access requests list and an erasure blanks. A new message
-- writes one entry more.
CREATE INDEX messages_of_author ON messages (tenant_id, author_id, created_at, id);
