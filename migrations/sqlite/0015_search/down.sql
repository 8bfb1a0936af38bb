DROP TABLE search_backlog;
DROP TABLE search_documents;
DROP TABLE search_tokens;
