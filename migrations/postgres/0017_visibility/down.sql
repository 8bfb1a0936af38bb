DROP INDEX observations_by_requester;
DROP INDEX observations_by_author;
ALTER TABLE observations DROP COLUMN requester_id;
ALTER TABLE observations DROP COLUMN visibility;
