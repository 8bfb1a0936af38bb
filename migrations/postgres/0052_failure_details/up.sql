-- The cause of a failed TLS handshake, or the target of a redirect. Null for other failures and for older rows.
ALTER TABLE deliveries ADD COLUMN failure_detail text;
