DROP TABLE messages;
DROP TABLE conversation_participants;
DROP TABLE conversations;
