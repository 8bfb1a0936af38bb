//! Conversion of fetched rows to cells.

use crate::flat::{Cell, Fetch, Type};

/// Fetches the next value of a row as a cell of this type.
///
/// # Errors
/// A message about the invalid stored value.
pub fn fetched(row: &mut dyn Fetch, kind: Type) -> Result<Cell, String> {
    let cell = match kind {
        Type::Id => row.id()?.map(Cell::Id),
        Type::Text => row.text()?.map(Cell::Text),
        Type::Int => row.int()?.map(Cell::Int),
        Type::Flag => row.flag()?.map(Cell::Flag),
        Type::Time => row.time()?.map(Cell::Time),
        Type::Date => row.date()?.map(Cell::Date),
        Type::Ids => row.ids()?.map(Cell::Ids),
        Type::Bytes => row.bytes()?.map(Cell::Bytes),
    };
    Ok(cell.unwrap_or(Cell::Null(kind)))
}

/// Returns the approximate size of a cell in memory.
#[must_use]
pub fn bytes(cell: &Cell) -> usize {
    let held = match cell {
        Cell::Text(it) => it.len(),
        Cell::Bytes(it) => it.len(),
        Cell::Ids(it) => it.len() * 16,
        Cell::Null(_) | Cell::Id(_) | Cell::Int(_) | Cell::Flag(_) | Cell::Time(_) | Cell::Date(_) => 0,
    };
    size_of::<Cell>() + held
}
