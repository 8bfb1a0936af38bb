DROP INDEX assignments_external_id;
DROP INDEX summaries_external_id;
DROP INDEX objectives_external_id;
DROP INDEX observations_external_id;
