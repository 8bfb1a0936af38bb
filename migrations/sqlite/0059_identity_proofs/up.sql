-- Proofs of identity providers. `id` is a digest of the proven domain, client id or audience. The key is without the
-- tenant: a value is proven for one provider of the installation.
CREATE TABLE identity_proofs (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    identity_provider_id BLOB NOT NULL,
    proven_at INTEGER NOT NULL,
    PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;
