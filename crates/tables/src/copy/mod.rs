//! Rows as `candor copy` moves them: which tables there are, and check sums.
//!
//! Rows are taken as they stand in their tables, as cells, whatever they mean: what is copied is what was stored. Only
//! what leads to rows, such as the index of words, is made anew.

mod checksum;
mod positions;
mod row;
mod tables;

use crate::flat::Cell;

pub use checksum::Checksum;
pub use positions::DistinctPositions;
pub use row::{bytes, fetched};
pub use tables::{CopyTable, tables};

/// A row: the cells of [`CopyTable::columns`], in their order.
pub type CopyRow = Vec<Cell>;

/// The table that is in a database for as long as a copy into it is not complete. No migration makes it.
pub const PROGRESS_TABLE: &str = "copy_progress";
