//! Webhook behaviour specific to PostgreSQL: partitions of the log, plans and connections of the queue.

mod log;
mod queue;
mod receiver;
