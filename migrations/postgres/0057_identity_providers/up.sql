-- OpenID Connect providers of organizations. `domains` has the proofs of e-mail domains as JSON, `client_secret` is sealed.
CREATE TABLE identity_providers (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    issuer text NOT NULL,
    client_id text NOT NULL,
    client_secret bytea,
    audiences text NOT NULL,
    authorized_parties text NOT NULL,
    link_by text NOT NULL,
    subject_claim text NOT NULL,
    domains text NOT NULL,
    proven_audiences text NOT NULL,
    scopes text NOT NULL,
    scopes_from_token boolean NOT NULL,
    admin_sessions boolean NOT NULL,
    session_lifetime bigint NOT NULL,
    required_acr text,
    status text NOT NULL,
    disabled_at timestamptz,
    last_sign_in_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
-- Lists in the order of creation and of the last change.
CREATE INDEX identity_providers_by_created_at ON identity_providers (tenant_id, created_at, id);
CREATE INDEX identity_providers_by_updated_at ON identity_providers (tenant_id, updated_at, id);

-- No statistics of columns with texts of people or organizations, see 0039.
DO $$
BEGIN
    PERFORM set_config('citus.enable_ddl_propagation', 'off', true);
    ALTER TABLE identity_providers
        ALTER COLUMN name SET STATISTICS 0,
        ALTER COLUMN issuer SET STATISTICS 0,
        ALTER COLUMN client_id SET STATISTICS 0,
        ALTER COLUMN client_secret SET STATISTICS 0,
        ALTER COLUMN audiences SET STATISTICS 0,
        ALTER COLUMN authorized_parties SET STATISTICS 0,
        ALTER COLUMN subject_claim SET STATISTICS 0,
        ALTER COLUMN domains SET STATISTICS 0,
        ALTER COLUMN proven_audiences SET STATISTICS 0,
        ALTER COLUMN required_acr SET STATISTICS 0;
END $$;
