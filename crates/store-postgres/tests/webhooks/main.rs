//! Webhook behaviour specific to PostgreSQL: partitions of the log, plans and connections of the queue.

#![cfg(test)]

mod log;
mod queue;
mod receiver;
#[path = "../support/mod.rs"]
mod support;
