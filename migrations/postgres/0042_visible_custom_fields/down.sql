ALTER TABLE organizations DROP COLUMN visible_custom_fields;
