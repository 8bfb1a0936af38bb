-- Keys whose link was not opened have no secret that a client knows.
DELETE FROM api_keys WHERE link_expires_at IS NOT NULL;
ALTER TABLE api_keys DROP COLUMN link_expires_at;
