//! Tests of the use cases with a manual clock: most on in-memory SQLite, copies and searches on both stores.

#![cfg(test)]

mod access;
mod copy;
mod csv;
mod delivery;
mod erasure_ledger;
mod exports;
mod fan_out;
mod idempotency;
mod lost_rights;
mod mails;
mod master_key;
mod people;
mod retention;
mod search;
mod search_model;
mod stores;
mod support;
mod tenant_sizes;
mod test_data;
mod webhooks;
