CREATE INDEX scim_users_by_deactivation ON scim_users (tenant_id, connector_id, deactivated_at);
DROP TABLE scim_brakes;
