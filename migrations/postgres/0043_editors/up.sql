-- Person whose key made the last change of the content, and people whose changes no other person has submitted since.
ALTER TABLE summaries ADD COLUMN edited_by uuid;
ALTER TABLE summaries ADD COLUMN editor_ids uuid[];
-- True if the content was changed after the approval by a caller who may not approve. Null for older rows: not changed.
ALTER TABLE objectives ADD COLUMN changed_since_approval boolean;
