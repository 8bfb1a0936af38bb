//! Sizes of data sets, measured in pieces, so that no statement scans a large table.

use candor_domain::event::Event;

use crate::copy::{CopyTable, tables};
use crate::flat::Stored;

/// Maximum number of rows per piece: some milliseconds of an index scan.
pub const PIECE_ROWS: u32 = 2_000;
/// Number of rows per piece whose bytes are measured; the bytes of the other rows are extrapolated.
pub const SAMPLE_ROWS: u32 = 20;

/// Measurement of one piece of a tenant's table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TablePiece {
    /// Number of rows, at most [`PIECE_ROWS`].
    pub rows: u64,
    /// Number of sampled rows, at most [`SAMPLE_ROWS`].
    pub sampled_rows: u64,
    /// Total bytes of the columns of the sampled rows, without indexes and overhead of the store.
    pub sampled_bytes: u64,
    /// Id of the last row, if the piece is full.
    pub last: Option<[u8; 16]>,
}

impl TablePiece {
    /// Estimates the bytes of all rows of the piece.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.rows.saturating_mul(self.sampled_bytes).checked_div(self.sampled_rows).unwrap_or_default()
    }
}

/// Returns the measured tables: those whose rows are identified by tenant and id. These are the resources,
/// events and audit entries; derived rows and the delivery log are excluded.
#[must_use]
pub fn measured_tables() -> Vec<CopyTable> {
    let is_measured = |table: &CopyTable| {
        let key: Vec<_> = table.key_columns().map(|column| column.name).collect();
        key == ["tenant_id", "id"] || table.name == Event::TABLE.name
    };
    tables().into_iter().filter(is_measured).collect()
}

/// Builds the statement that measures a piece of a table. `tenant` and `after` are placeholders, and `size`
/// returns the expression for the bytes of a column. The result is one row: rows, id of the last row of a
/// full piece, sampled rows and sampled bytes.
#[must_use]
pub fn piece_statement(table: &CopyTable, tenant: &str, after: &str, size: impl Fn(&str) -> String) -> String {
    let bytes: Vec<_> = table.columns.iter().map(|column| size(column.name)).collect();
    let (name, bytes, before_last) = (table.name, bytes.join(" + "), PIECE_ROWS - 1);
    let rows = |columns: &str| {
        format!("SELECT {columns} FROM {name} WHERE tenant_id = {tenant} AND id > {after} ORDER BY tenant_id, id")
    };
    let (counted, sampled) = (rows("1 AS counted"), rows(&format!("{bytes} AS bytes")));
    format!(
        "SELECT (SELECT count(*) FROM ({counted} LIMIT {PIECE_ROWS}) AS piece), \
         ({last} LIMIT 1 OFFSET {before_last}), count(*), coalesce(sum(sample.bytes), 0) \
         FROM ({sampled} LIMIT {SAMPLE_ROWS}) AS sample",
        last = rows("id"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_tables_include_resources_events_and_audit_entries() {
        let tables = measured_tables();
        let has = |name: &str| tables.iter().any(|table| table.name == name);
        assert!(["employees", "observations", "messages", "events", "audit_entries"].into_iter().all(has));
        assert!(!["master_keys", "reporting_lines", "replays", "deliveries"].into_iter().any(has));
    }

    #[test]
    fn bytes_of_a_piece_are_scaled_from_its_sample() {
        let piece = TablePiece { rows: 2_000, sampled_rows: 20, sampled_bytes: 6_000, last: None };
        assert_eq!(piece.bytes(), 600_000);
        assert_eq!(TablePiece::default().bytes(), 0);
    }
}
