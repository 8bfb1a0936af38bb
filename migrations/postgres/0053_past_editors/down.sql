ALTER TABLE summaries DROP COLUMN past_editor_ids;
