ALTER TABLE objectives ADD COLUMN linked_summary_ids BLOB NOT NULL DEFAULT x'';
DROP TABLE summary_includes;
DROP TABLE summaries;
