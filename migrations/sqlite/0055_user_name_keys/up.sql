-- Names of users with a key of other than ASCII characters, whose keys a start of the service compares.
CREATE INDEX scim_users_by_wide_key ON scim_users (tenant_id, id) WHERE octet_length(user_name_key) <> length(user_name_key);
