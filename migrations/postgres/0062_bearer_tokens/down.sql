ALTER TABLE audit_entries DROP COLUMN identity_provider_id;
ALTER TABLE identity_links DROP COLUMN bearer_tokens_after;
