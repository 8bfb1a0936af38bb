//! Progress of a table's copy, stored in the target together with its rows.

use candor_domain::time::Timestamp;
use candor_port_storage::StorageError;
use candor_port_storage::copy::CopyProgress;
use candor_tables::copy::{CopyRow, CopyTable};
use candor_tables::flat::{SqlValue, Type};
use serde::{Deserialize, Serialize};

/// Copy progress of one table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TableProgress {
    /// Number of rows in the target.
    pub(super) rows: u64,
    /// Key of the last copied row, column by column.
    last: Option<Vec<String>>,
    /// `true` once all rows are copied.
    pub(super) is_done: bool,
}

impl TableProgress {
    /// Returns the stored progress of a table, or an empty one if the copy has not begun or the stored text is
    /// invalid.
    pub(super) fn parse(progress: &CopyProgress, table: &CopyTable) -> Self {
        let table_progress = progress.get(&name(table)).and_then(|progress| serde_json::from_str(progress).ok());
        table_progress.unwrap_or_default()
    }

    /// Returns the progress entry to store.
    pub(super) fn step(&self, table: &CopyTable) -> (String, String) {
        (name(table), serde_json::to_string(self).unwrap_or_default())
    }

    /// Records that these rows were appended to the target.
    pub(super) fn add(&mut self, table: &CopyTable, rows: &[CopyRow]) {
        self.rows += rows.len() as u64;
        if let Some(row) = rows.last() {
            self.last = Some(table.key_of(row).iter().map(text).collect());
        }
    }

    /// Returns the key after which the copy continues; `None` if no row was copied.
    ///
    /// # Errors
    /// [`StorageError::Corrupt`] if the stored key is invalid.
    pub(super) fn last_key(&self, table: &CopyTable) -> Result<Option<Vec<SqlValue>>, StorageError> {
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

/// Formats the value of a key column as text. Keys have only ids, texts, integers and times, and no nulls.
fn text(cell: &SqlValue) -> String {
    match cell {
        SqlValue::Id(it) => format!("{:032x}", u128::from_be_bytes(*it)),
        SqlValue::Text(it) => it.clone(),
        SqlValue::Int(it) => it.to_string(),
        SqlValue::Time(it) => it.millis().to_string(),
        SqlValue::Null(_) | SqlValue::Flag(_) | SqlValue::Date(_) | SqlValue::Ids(_) | SqlValue::Bytes(_) => {
            String::new()
        }
    }
}

fn cell(kind: Type, text: &str) -> Option<SqlValue> {
    match kind {
        Type::Id => u128::from_str_radix(text, 16).ok().map(|id| SqlValue::Id(id.to_be_bytes())),
        Type::Text => Some(SqlValue::Text(text.to_owned())),
        Type::Int => text.parse().ok().map(SqlValue::Int),
        Type::Time => text.parse().ok().map(|number| SqlValue::Time(Timestamp::from_millis(number))),
        Type::Flag | Type::Date | Type::Ids | Type::Bytes => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_tables::copy::tables;

    /// Returns a value that is valid for columns of this type only.
    fn value(kind: Type) -> SqlValue {
        match kind {
            Type::Id => SqlValue::Id([0x9c; 16]),
            Type::Text => SqlValue::Text("it's \"so\" \u{2713}".to_owned()),
            Type::Int => SqlValue::Int(-5),
            Type::Flag => SqlValue::Flag(true),
            Type::Time => SqlValue::Time(Timestamp::from_millis(-1)),
            Type::Date | Type::Ids | Type::Bytes => SqlValue::Null(kind),
        }
    }

    #[test]
    fn copy_progress_resumes_behind_the_recorded_primary_key() {
        for table in tables() {
            let row: CopyRow = table.columns.iter().map(|column| value(column.kind)).collect();
            let mut progress = TableProgress::default();
            assert_eq!(progress.last_key(&table).unwrap(), None);
            progress.add(&table, &[row.clone(), row.clone()]);
            let stored_progress = CopyProgress::from([progress.step(&table)]);
            let read = TableProgress::parse(&stored_progress, &table);
            assert_eq!((&read, read.rows), (&progress, 2), "{}", table.name);
            assert_eq!(read.last_key(&table).unwrap(), Some(table.key_of(&row)), "{}", table.name);
        }
    }

    #[test]
    fn malformed_primary_key_of_copy_progress_is_refused() {
        let all = tables();
        let progress_of = |last: &[&str]| TableProgress {
            last: Some(last.iter().map(ToString::to_string).collect()),
            ..TableProgress::default()
        };
        let organizations = &all[0];
        for wrong in [&["00"][..], &["x", "00"], &[]] {
            assert!(progress_of(wrong).last_key(organizations).is_err(), "{wrong:?}");
        }
    }
}
