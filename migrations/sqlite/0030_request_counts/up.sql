-- Number of answered requests of each data set by hour and status. `hour` is the number of hours since 1970.
CREATE TABLE request_counts (
    tenant_id BLOB NOT NULL,
    hour INTEGER NOT NULL,
    status INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, hour, status)
) STRICT, WITHOUT ROWID;
