DROP TABLE deliveries;
DROP TABLE delivery_jobs;
DROP TABLE webhooks;
