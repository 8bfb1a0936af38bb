DROP TABLE identity_removals;
DROP TABLE identity_links;
