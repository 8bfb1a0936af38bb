-- Networks from which a key can be used, separated by spaces. Empty for no limit.
ALTER TABLE api_keys ADD COLUMN allowed_networks text NOT NULL DEFAULT '';
