DROP TABLE recipient_mails;
