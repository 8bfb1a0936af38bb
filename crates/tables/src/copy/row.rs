//! Conversion of fetched rows to cells.

use crate::flat::{CellReader, SqlValue, Type};

/// Fetches the next value of a row as a cell of this type.
///
/// # Errors
/// A message about the invalid stored value.
pub fn fetch_cell(row: &mut dyn CellReader, kind: Type) -> Result<SqlValue, String> {
    let cell = match kind {
        Type::Id => row.id()?.map(SqlValue::Id),
        Type::Text => row.text()?.map(SqlValue::Text),
        Type::Int => row.int()?.map(SqlValue::Int),
        Type::Flag => row.flag()?.map(SqlValue::Flag),
        Type::Time => row.time()?.map(SqlValue::Time),
        Type::Date => row.date()?.map(SqlValue::Date),
        Type::Ids => row.ids()?.map(SqlValue::Ids),
        Type::Bytes => row.bytes()?.map(SqlValue::Bytes),
    };
    Ok(cell.unwrap_or(SqlValue::Null(kind)))
}

/// Returns the approximate size of a cell in memory, in bytes.
#[must_use]
pub fn bytes(cell: &SqlValue) -> usize {
    let content_bytes = match cell {
        SqlValue::Text(it) => it.len(),
        SqlValue::Bytes(it) => it.len(),
        SqlValue::Ids(it) => it.len() * 16,
        SqlValue::Null(_)
        | SqlValue::Id(_)
        | SqlValue::Int(_)
        | SqlValue::Flag(_)
        | SqlValue::Time(_)
        | SqlValue::Date(_) => 0,
    };
    size_of::<SqlValue>() + content_bytes
}
