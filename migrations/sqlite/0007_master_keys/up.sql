-- The master keys that have sealed something in this database: a value that only the same key opens, and a fingerprint
-- to tell keys apart by. They belong to the database as a whole and to no tenant.
CREATE TABLE master_keys (
    key_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    sealed BLOB NOT NULL,
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (key_id)
) STRICT, WITHOUT ROWID;

-- One row that is written to prove that a write is possible.
CREATE TABLE write_probes (
    id INTEGER NOT NULL,
    probed_at INTEGER NOT NULL,
    PRIMARY KEY (id)
) STRICT;
