-- Conditions of subscriptions on the content of events, each null if there is none. Scopes are words with spaces
-- between them.
ALTER TABLE webhooks ADD COLUMN filter_employee_ids uuid[];
ALTER TABLE webhooks ADD COLUMN filter_department_ids uuid[];
ALTER TABLE webhooks ADD COLUMN filter_type text;
ALTER TABLE webhooks ADD COLUMN filter_scopes text;
