//! Mapping of resources to tables, declared once for all stores: columns, row encoding, indexes, lists,
//! access paths and the list of all tables.
//!
//! A store executes these descriptions and knows no resource by name.

pub mod access_path;
pub mod codec;
pub mod copy;
pub mod counts;
pub mod error;
pub mod flat;
pub mod keyed_texts;
pub mod listing;
pub mod plan;
pub mod put;
pub mod read;
pub mod rows;
pub mod schema;
pub mod sizes;
mod stored;
pub mod unique;
pub mod version;

pub use error::{CorruptRowError, RowWriteError};
pub use put::{AnyRow, Row};
pub use unique::Unique;
pub use version::{Version, Versioned};
