DROP INDEX audit_entries_by_actor;
DROP INDEX audit_entries_by_action;
