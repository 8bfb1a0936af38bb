-- Number of invitation mails to one address on one day (UTC), over all tenants. The address is the SHA-256 of
-- its lower-case form. Counting a mail deletes rows older than the previous day, so the key starts with the
-- day.
CREATE TABLE recipient_mails (
    day date NOT NULL,
    recipient bytea NOT NULL,
    mails bigint NOT NULL,
    PRIMARY KEY (day, recipient)
);
