-- Invitation mails to one address on one day (UTC), over all tenants. The address is a SHA-256 of its lower-case form.
-- Counting a mail removes the rows of days before the day before, hence the order of the key.
CREATE TABLE recipient_mails (
    day INTEGER NOT NULL,
    recipient BLOB NOT NULL,
    mails INTEGER NOT NULL,
    PRIMARY KEY (day, recipient)
) STRICT, WITHOUT ROWID;
