-- Invitation mails to one address on one day (UTC), over all tenants. The address is a SHA-256 of its lower-case form.
-- Counting a mail removes the rows of days before the day before, hence the order of the key.
CREATE TABLE recipient_mails (
    day date NOT NULL,
    recipient bytea NOT NULL,
    mails bigint NOT NULL,
    PRIMARY KEY (day, recipient)
);
