DROP INDEX notifications_by_reading;
DROP INDEX notifications_by_age;
ALTER TABLE connectors DROP COLUMN last_sync_message;
ALTER TABLE connectors DROP COLUMN last_sync_status;
ALTER TABLE connectors DROP COLUMN last_sync_at;
DROP INDEX api_keys_by_reminder;
ALTER TABLE api_keys DROP COLUMN remind_at;
