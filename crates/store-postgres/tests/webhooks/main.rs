//! What is PostgreSQL's own about webhooks: partitions of the log, plans and connections of the queue.

#![cfg(test)]

mod log;
mod queue;
mod receiver;
#[path = "../support/mod.rs"]
mod support;
