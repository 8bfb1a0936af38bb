//! The use cases on SQLite in memory, with a clock that stands still.

#![cfg(test)]

mod access;
mod csv;
mod delivery;
mod idempotency;
mod objectives;
mod people;
mod support;
mod webhooks;
