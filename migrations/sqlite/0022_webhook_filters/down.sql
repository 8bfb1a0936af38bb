ALTER TABLE webhooks DROP COLUMN filter_scopes;
ALTER TABLE webhooks DROP COLUMN filter_type;
ALTER TABLE webhooks DROP COLUMN filter_department_ids;
ALTER TABLE webhooks DROP COLUMN filter_employee_ids;
