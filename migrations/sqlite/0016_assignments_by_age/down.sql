DROP INDEX assignments_by_age;
