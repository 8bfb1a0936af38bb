//! Rows as `candor copy` moves them: the copied tables, and checksums.
//!
//! Rows are copied as cells, without interpreting them. Only data that is derived from rows, such as the
//! full-text index, is built again.

mod checksum;
mod positions;
mod row;
mod tables;

use crate::flat::SqlValue;

pub use checksum::Checksum;
pub use positions::DistinctPositions;
pub use row::{bytes, fetch_cell};
pub use tables::{CopyTable, tables};

/// A row: the cells of [`CopyTable::columns`] in order.
pub type CopyRow = Vec<SqlValue>;

/// Table that exists in a database while a copy into it is incomplete. No migration creates it.
pub const PROGRESS_TABLE: &str = "copy_progress";
