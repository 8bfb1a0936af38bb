//! How far the copy of a table is, as it is written down in the target with its rows.

use candor_domain::time::Timestamp;
use candor_port_storage::StorageError;
use candor_port_storage::copy::CopyProgress;
use candor_tables::copy::{CopyRow, CopyTable};
use candor_tables::flat::{Cell, Type};
use serde::{Deserialize, Serialize};

/// How far a table is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TableProgress {
    /// Rows that are there.
    pub(super) rows: u64,
    /// The key of the last of them, by its columns.
    last: Option<Vec<String>>,
    /// Whether these are all.
    pub(super) is_done: bool,
}

impl TableProgress {
    /// What is written down about a table; nothing is where it was not begun.
    pub(super) fn of(progress: &CopyProgress, table: &CopyTable) -> Self {
        let written = progress.get(&name(table)).and_then(|progress| serde_json::from_str(progress).ok());
        written.unwrap_or_default()
    }

    /// What is to be written down.
    pub(super) fn step(&self, table: &CopyTable) -> (String, String) {
        (name(table), serde_json::to_string(self).unwrap_or_default())
    }

    /// Rows are there that come behind the others.
    pub(super) fn add(&mut self, table: &CopyTable, rows: &[CopyRow]) {
        self.rows += rows.len() as u64;
        if let Some(row) = rows.last() {
            self.last = Some(table.key_of(row).iter().map(text).collect());
        }
    }

    /// The key behind which the copy goes on.
    ///
    /// # Errors
    /// [`StorageError::Corrupt`] if it is none.
    pub(super) fn last_key(&self, table: &CopyTable) -> Result<Option<Vec<Cell>>, StorageError> {
        let Some(last) = &self.last else { return Ok(None) };
        let cells = table.key_columns().zip(last).map(|(column, text)| cell(column.kind, text));
        let key = cells.collect::<Option<Vec<_>>>().filter(|cells| cells.len() == table.key.len());
        let reason = format!("{last:?} is no key of {}", table.name);
        key.map(Some).ok_or(StorageError::Corrupt { table: "copy_progress", column: "value", reason })
    }
}

fn name(table: &CopyTable) -> String {
    format!("table {}", table.name)
}

/// A cell of a key as text. No key has other types, nor a null.
fn text(cell: &Cell) -> String {
    match cell {
        Cell::Id(it) => format!("{:032x}", u128::from_be_bytes(*it)),
        Cell::Text(it) => it.clone(),
        Cell::Int(it) => it.to_string(),
        Cell::Time(it) => it.millis().to_string(),
        Cell::Null(_) | Cell::Flag(_) | Cell::Date(_) | Cell::Ids(_) | Cell::Bytes(_) => String::new(),
    }
}

fn cell(kind: Type, text: &str) -> Option<Cell> {
    match kind {
        Type::Id => u128::from_str_radix(text, 16).ok().map(|id| Cell::Id(id.to_be_bytes())),
        Type::Text => Some(Cell::Text(text.to_owned())),
        Type::Int => text.parse().ok().map(Cell::Int),
        Type::Time => text.parse().ok().map(|number| Cell::Time(Timestamp::from_millis(number))),
        Type::Flag | Type::Date | Type::Ids | Type::Bytes => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_tables::copy::tables;

    /// A value of a column that is not that of any other type.
    fn value(kind: Type) -> Cell {
        match kind {
            Type::Id => Cell::Id([0x9c; 16]),
            Type::Text => Cell::Text("it's \"so\" \u{2713}".to_owned()),
            Type::Int => Cell::Int(-5),
            Type::Flag => Cell::Flag(true),
            Type::Time => Cell::Time(Timestamp::from_millis(-1)),
            Type::Date | Type::Ids | Type::Bytes => Cell::Null(kind),
        }
    }

    #[test]
    fn every_table_goes_on_behind_the_key_that_was_written_down() {
        for table in tables() {
            let row: CopyRow = table.columns.iter().map(|column| value(column.kind)).collect();
            let mut progress = TableProgress::default();
            assert_eq!(progress.last_key(&table).unwrap(), None);
            progress.add(&table, &[row.clone(), row.clone()]);
            let written = CopyProgress::from([progress.step(&table)]);
            let read = TableProgress::of(&written, &table);
            assert_eq!((&read, read.rows), (&progress, 2), "{}", table.name);
            assert_eq!(read.last_key(&table).unwrap(), Some(table.key_of(&row)), "{}", table.name);
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let all = tables();
        let of = |last: &[&str]| TableProgress {
            last: Some(last.iter().map(ToString::to_string).collect()),
            ..TableProgress::default()
        };
        let organizations = &all[0];
        for wrong in [&["00"][..], &["x", "00"], &[]] {
            assert!(of(wrong).last_key(organizations).is_err(), "{wrong:?}");
        }
    }
}
