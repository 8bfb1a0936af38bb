-- Keys of the custom fields that every key shows. Null for older organizations, whose keys show all of them.
ALTER TABLE organizations ADD COLUMN visible_custom_fields text;
