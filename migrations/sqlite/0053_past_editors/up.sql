-- People whose changes another person has submitted since: their legal hold keeps the summary. Null for older rows: none is known.
ALTER TABLE summaries ADD COLUMN past_editor_ids BLOB;
