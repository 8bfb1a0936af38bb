-- The master keys that have sealed something in this database: a value that only the same key opens, and a fingerprint
-- to tell keys apart by. They belong to the database as a whole and to no tenant.
CREATE TABLE master_keys (
    key_id text NOT NULL,
    fingerprint text NOT NULL,
    sealed bytea NOT NULL,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (key_id)
);

-- One row that is written to prove that a write is possible.
CREATE TABLE write_probes (
    id bigint NOT NULL,
    probed_at timestamptz NOT NULL,
    PRIMARY KEY (id)
);
