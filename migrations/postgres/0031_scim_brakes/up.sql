-- Deactivations by each provider within the last hour. Each deactivation writes the row, so that concurrent ones
-- conflict. `id` is the id of the connector.
CREATE TABLE scim_brakes (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    resumed_at timestamptz,
    minutes text NOT NULL,
    people bigint NOT NULL,
    counted_at timestamptz,
    version bigint NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
DROP INDEX scim_users_by_deactivation;
