ALTER TABLE objectives ADD COLUMN linked_summary_ids uuid[] NOT NULL DEFAULT '{}';
DROP TABLE summary_includes;
DROP TABLE summaries;
