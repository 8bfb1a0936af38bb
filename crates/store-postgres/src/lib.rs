//! Storage port on PostgreSQL, with a driver written in Rust only.
//!
//! Reads share a few connections, on which the statements of many requests are pipelined. A change set is one
//! statement or transaction on an exclusive connection. It runs in a task of its own, so that a dropped request
//! cannot cancel it. Concurrent change sets that only add rows share a transaction. The database needs PostgreSQL
//! 14 or newer; connection poolers are supported.

mod cluster;
mod commit;
mod connection;
mod copy;
mod failure;
mod layout;
mod listing;
mod migrations;
mod nodes;
mod options;
mod queue;
mod reads;
mod rewrite;
mod schema;
mod search;
mod sql;
mod store;

pub use copy::{CopyDatabaseError, PostgresCopy, is_copy_unfinished};
pub use migrations::{distribute, lay_out_by_tenant, migrate, pending, revert, unknown_migrations};
pub use options::{ConnectError, PostgresOptions};
pub use reads::upkeep::master_keys;
pub use rewrite::rewrite_erased;
pub use schema::keyed_texts::replace_former_keys;
pub use schema::pooler::role_settings;
pub use schema::probe::probe;
pub use schema::session::SchemaError;
pub use store::PostgresStore;
