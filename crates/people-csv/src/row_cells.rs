//! The cells of a row of a file.

use super::scan::Record;

/// Function that gets the progress of long work on a file, in cells, so that the caller can do other work in between.
/// Each call adds the work on one row, or one cell for each row for a pass over the whole file.
pub type CellCounter<'p> = dyn FnMut(usize) + 'p;

/// The cells of a row that are not empty, in the order of their columns. One text holds all of them, because a file has
/// up to five million cells: as many allocations would take ten times the memory, and a tenth of a second to free.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RowCells {
    text: String,
    /// Column of each cell, and the end of the cell in the text.
    ends: Vec<(u16, u32)>,
}

impl RowCells {
    /// Creates an empty list with exactly the room that the cells of a record need: thousands of rows are kept in
    /// memory, and a list that grows would waste a part of its room.
    pub(super) fn for_record(record: &Record<'_, '_>) -> Self {
        let count = record.cells.iter().filter(|cell| !cell.is_empty()).count();
        Self { text: String::with_capacity(record.raw.len()), ends: Vec::with_capacity(count) }
    }

    pub(super) fn push(&mut self, column: u16, cell: &str) {
        self.text.push_str(cell);
        // A file has fewer bytes than the type holds.
        self.ends.push((column, u32::try_from(self.text.len()).unwrap_or(u32::MAX)));
    }

    /// Returns the number of bytes of all cells.
    pub(super) const fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Returns the cells with their columns.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u16, &str)> {
        let mut begin = 0;
        self.ends.iter().map(move |(column, end)| {
            let cell = begin..*end as usize;
            begin = cell.end;
            (*column, self.text.get(cell).unwrap_or_default())
        })
    }
}
