ALTER TABLE objectives DROP COLUMN changed_since_approval;
ALTER TABLE summaries DROP COLUMN editor_ids;
ALTER TABLE summaries DROP COLUMN edited_by;
