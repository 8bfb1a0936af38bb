DROP INDEX messages_of_author;
