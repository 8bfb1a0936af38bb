-- Conditions of subscriptions on the content of events, each null if there is none. Scopes are words with spaces
-- between them.
ALTER TABLE webhooks ADD COLUMN filter_employee_ids BLOB;
ALTER TABLE webhooks ADD COLUMN filter_department_ids BLOB;
ALTER TABLE webhooks ADD COLUMN filter_type TEXT;
ALTER TABLE webhooks ADD COLUMN filter_scopes TEXT;
