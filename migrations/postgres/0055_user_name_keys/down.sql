DROP INDEX scim_users_by_wide_key;
