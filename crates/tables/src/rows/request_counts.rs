//! Rows of the numbers of requests, which both stores read in the same form.

use candor_domain::request_stats::RequestCount;

use crate::error::CorruptRowError;
use crate::flat::CellReader;

/// Reads a number from the columns hour, status and count.
///
/// # Errors
/// [`CorruptRowError`] naming the column.
pub fn request_count(row: &mut dyn CellReader) -> Result<RequestCount, CorruptRowError> {
    let mut int = |column| {
        let corrupt = |reason| CorruptRowError { table: "request_counts", column, reason };
        row.int().map_err(corrupt).map(Option::unwrap_or_default)
    };
    Ok(RequestCount {
        hour: int("hour")?,
        status: u16::try_from(int("status")?).unwrap_or(u16::MAX),
        count: int("count")?.unsigned_abs(),
    })
}
