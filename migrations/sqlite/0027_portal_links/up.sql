-- End of the time in which the portal link of a key can be opened; null without a link, and after it was opened. Until
-- then, `hash` is that of the link's code.
ALTER TABLE api_keys ADD COLUMN link_expires_at INTEGER;
