DROP INDEX webhooks_by_last_delivery;
DROP INDEX webhooks_by_activity;
DROP INDEX connectors_by_incomplete_sync;
DROP INDEX connectors_by_pause;
DROP INDEX api_keys_by_notable_end;
ALTER TABLE connectors DROP COLUMN incomplete_at;
ALTER TABLE api_keys DROP COLUMN notable_end;
