-- The former version knows no networks, so keys that have some would work from everywhere.
UPDATE api_keys SET revoked_at = updated_at WHERE allowed_networks <> '' AND revoked_at IS NULL;
ALTER TABLE api_keys DROP COLUMN allowed_networks;
