-- Deactivations by each provider within the last hour. Each deactivation writes the row, so that concurrent ones
-- conflict. `id` is the id of the connector.
CREATE TABLE scim_brakes (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    resumed_at INTEGER,
    minutes TEXT NOT NULL,
    people INTEGER NOT NULL,
    counted_at INTEGER,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
) STRICT;
DROP INDEX scim_users_by_deactivation;
