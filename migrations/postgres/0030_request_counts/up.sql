-- Number of answered requests of each data set by hour and status. `hour` is the number of hours since 1970.
CREATE TABLE request_counts (
    tenant_id uuid NOT NULL,
    hour bigint NOT NULL,
    status bigint NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (tenant_id, hour, status)
);
