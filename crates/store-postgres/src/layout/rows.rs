//! Rows of a change set as the values or arrays of a statement.

use candor_tables::AnyRow;
use candor_tables::RowWriteError;
use candor_tables::flat::{Column, SqlValue, Table, Type};

use super::Statement;

/// A row of a change set, with its cells.
pub(crate) struct Entry<'c> {
    pub(crate) row: &'c AnyRow,
    pub(crate) cells: &'c [SqlValue],
}

impl<'c> Entry<'c> {
    /// Creates the entry of a row.
    ///
    /// # Errors
    /// [`RowWriteError`] for a row that cannot be stored.
    pub(crate) fn new(row: &'c AnyRow) -> Result<Self, RowWriteError> {
        Ok(Self { row, cells: row.cells()? })
    }

    /// Returns the id as a cell.
    pub(crate) fn id(&self) -> SqlValue {
        SqlValue::Id(self.row.id())
    }

    /// Returns the version that the change set saw; 0 for a new row.
    pub(crate) fn version_cell(&self) -> SqlValue {
        SqlValue::Int(self.row.version_read().map_or(0, |version| version.0))
    }

    /// Returns `true` if a cell holds the id of one of the other rows.
    pub(crate) fn refers_to(&self, others: &[Entry<'_>]) -> bool {
        let ids = self.cells.iter().filter_map(|cell| if let SqlValue::Id(id) = cell { Some(*id) } else { None });
        ids.into_iter().any(|id| others.iter().any(|other| other.row.id() == id))
    }

    /// Binds the cells and returns their placeholders as a list.
    pub(crate) fn bind_cells(&self, statement: &mut Statement) -> String {
        let values: Vec<_> = self.cells.iter().map(|cell| statement.sql.bind(cell.clone())).collect();
        values.join(", ")
    }
}

/// The columns of a table that a change set writes, in the order of an entry's cells.
pub(crate) fn written_columns(table: &Table) -> impl Iterator<Item = &Column> {
    table.columns.iter().chain(table.derived)
}

/// Names of the written columns as a list.
pub(crate) fn column_names(table: &Table) -> String {
    written_columns(table).map(|column| column.name).collect::<Vec<_>>().join(", ")
}

/// `FROM` item named `u` with the rows as one array for each column, and an array `seen` of the versions that the
/// change set saw.
pub(crate) fn bind_arrays(statement: &mut Statement, table: &Table, rows: &[&Entry<'_>]) -> String {
    let mut arrays: Vec<_> = written_columns(table)
        .enumerate()
        .map(|(at, column)| {
            let cells = rows.iter().map(|row| row.cells.get(at).cloned().unwrap_or(SqlValue::Null(column.kind)));
            statement.sql.many(column.kind, cells)
        })
        .collect();
    arrays.push(statement.sql.many(Type::Int, rows.iter().map(|row| row.version_cell())));
    format!("UNNEST({}) AS u ({}, seen)", arrays.join(", "), column_names(table))
}

/// Returns the written columns of the `FROM` item `u` that [`bind_arrays`] builds. Lists of ids are bound as
/// texts, and cast back here.
pub(crate) fn array_columns(table: &Table) -> Vec<String> {
    let cast = |kind| if kind == Type::Ids { "::uuid[]" } else { "" };
    written_columns(table).map(|column| format!("u.{}{}", column.name, cast(column.kind))).collect()
}
