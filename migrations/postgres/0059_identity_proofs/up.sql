-- Proofs of identity providers. `id` is a digest of the proven domain, client id or audience. The key is without the
-- tenant: a value is proven for one provider of the installation. On a cluster, every node has the table.
CREATE TABLE identity_proofs (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    identity_provider_id uuid NOT NULL,
    proven_at timestamptz NOT NULL,
    PRIMARY KEY (id)
);
