-- OpenID Connect providers of organizations. `domains` has the proofs of e-mail domains as JSON, `client_secret` is sealed.
CREATE TABLE identity_providers (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    issuer TEXT NOT NULL,
    client_id TEXT NOT NULL,
    client_secret BLOB,
    audiences TEXT NOT NULL,
    authorized_parties TEXT NOT NULL,
    link_by TEXT NOT NULL,
    subject_claim TEXT NOT NULL,
    domains TEXT NOT NULL,
    proven_audiences TEXT NOT NULL,
    scopes TEXT NOT NULL,
    scopes_from_token INTEGER NOT NULL,
    admin_sessions INTEGER NOT NULL,
    session_lifetime INTEGER NOT NULL,
    required_acr TEXT,
    status TEXT NOT NULL,
    disabled_at INTEGER,
    last_sign_in_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
) STRICT;
-- Lists in the order of creation and of the last change.
CREATE INDEX identity_providers_by_created_at ON identity_providers (tenant_id, created_at, id);
CREATE INDEX identity_providers_by_updated_at ON identity_providers (tenant_id, updated_at, id);
