DROP TABLE assignment_people;
DROP TABLE assignments;
