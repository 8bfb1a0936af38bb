-- The former version does not know by what sessions and their keys end, so they would last.
UPDATE api_keys SET revoked_at = updated_at, link_expires_at = NULL
    WHERE (kind = 'session' OR session_id IS NOT NULL) AND revoked_at IS NULL;
DROP INDEX identity_providers_by_id;
DROP INDEX api_keys_by_identity_sid;
DROP INDEX api_keys_by_employee_and_kind;
DROP INDEX api_keys_by_kind_and_change;
DROP INDEX api_keys_by_kind;
ALTER TABLE api_keys DROP COLUMN identity_sid;
ALTER TABLE api_keys DROP COLUMN identity_subject;
ALTER TABLE api_keys DROP COLUMN identity_provider_id;
ALTER TABLE api_keys DROP COLUMN session_id;
ALTER TABLE api_keys DROP COLUMN kind;
