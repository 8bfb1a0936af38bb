DROP TABLE write_probes;
DROP TABLE master_keys;
