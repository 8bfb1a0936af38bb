DROP TABLE request_counts;
