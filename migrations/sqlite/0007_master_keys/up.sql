-- Master keys that have encrypted values in this database: a test value that only the same key decrypts, and a
-- fingerprint. They belong to the database and not to a tenant.
CREATE TABLE master_keys (
    key_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    sealed BLOB NOT NULL,
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (key_id)
) STRICT, WITHOUT ROWID;

-- Single row that health checks write to verify that writes are possible.
CREATE TABLE write_probes (
    id INTEGER NOT NULL,
    probed_at INTEGER NOT NULL,
    PRIMARY KEY (id)
) STRICT;
