//! Tests of the use cases on in-memory SQLite with a manual clock.

#![cfg(test)]

mod access;
mod csv;
mod delivery;
mod exports;
mod fan_out;
mod idempotency;
mod mails;
mod master_key;
mod people;
mod retention;
mod search;
mod support;
mod tenant_sizes;
mod test_data;
mod webhooks;
