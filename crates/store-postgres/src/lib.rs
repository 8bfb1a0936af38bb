//! The storage port on PostgreSQL, spoken to by a driver in Rust alone.
//!
//! Reads share a few connections on which statements of many requests are under way at once. A change set is one
//! statement on a connection of its own, run in a task that no dropped request can cancel; those that only add rows and
//! arrive at once share one. The database needs PostgreSQL 14 or newer; poolers may stand between.

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
mod schema;
mod search;
mod sql;
mod store;
mod tenant_cache;

pub use copy::{CopyRefusal, PostgresCopy, is_copy_unfinished};
pub use migrations::{distribute, lay_out_by_tenant, migrate, pending, revert};
pub use options::{ConnectError, PostgresOptions};
pub use reads::upkeep::master_keys;
pub use schema::pooler::role_settings;
pub use schema::probe::probe;
pub use schema::session::SchemaError;
pub use store::PostgresStore;
