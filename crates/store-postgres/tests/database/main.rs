//! Behaviour of the store that only PostgreSQL has, and tests of a cluster.

#![cfg(test)]

mod audience;
mod backfill;
#[path = "../support/by_tenant.rs"]
mod by_tenant;
mod cluster;
mod conversations;
mod crowds;
mod plans;
mod schema;
mod server;
mod statements;
#[path = "../support/mod.rs"]
mod support;
mod teams;
mod webhooks;
mod young_tables;
