-- Master keys that have encrypted values in this database: a test value that only the same key decrypts, and a
-- fingerprint. They belong to the database and not to a tenant.
CREATE TABLE master_keys (
    key_id text NOT NULL,
    fingerprint text NOT NULL,
    sealed bytea NOT NULL,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (key_id)
);

-- Single row that health checks write to verify that writes are possible.
CREATE TABLE write_probes (
    id bigint NOT NULL,
    probed_at timestamptz NOT NULL,
    PRIMARY KEY (id)
);
