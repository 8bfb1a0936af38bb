//! Rows of any table, encoded for writing.

use candor_domain::id::Id;

use crate::error::RowWriteError;
use crate::flat::{SqlValue, Stored, Table};
use crate::version::Version;

/// A row to write: the whole resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Row<T> {
    /// New value of the row.
    pub value: T,
    /// Version that the change is based on; `None` if the row must not exist.
    pub seen: Option<Version>,
}

impl<T> Row<T> {
    /// Creates a row that must not exist yet.
    pub const fn new(value: T) -> Self {
        Self { value, seen: None }
    }

    /// Creates a row that must still have this version.
    pub const fn at_version(value: T, version: Version) -> Self {
        Self { value, seen: Some(version) }
    }
}

/// An encoded row of any table, with the version it is based on. A store writes it by its [`Table`].
#[derive(Debug, Clone, PartialEq)]
pub struct AnyRow {
    table: &'static Table,
    id: [u8; 16],
    cells: Result<Vec<SqlValue>, RowWriteError>,
    /// Tags for each side table, sorted and without duplicates.
    members: Vec<Vec<[u8; 16]>>,
    is_searched: bool,
    seen: Option<Version>,
}

impl AnyRow {
    /// Encodes a whole resource.
    #[must_use]
    pub fn from_row<T: Stored>(row: &Row<T>) -> Self {
        Self { seen: row.seen, ..Self::new(&row.value) }
    }

    /// Encodes a resource that must not exist yet.
    #[must_use]
    pub fn new<T: Stored>(value: &T) -> Self {
        let (id, cells, mut members) = (value.key().to_bytes(), value.cells(), value.members());
        debug_assert_eq!(members.len(), T::TABLE.members.len(), "{}", T::TABLE.name);
        for tags in &mut members {
            tags.sort_unstable();
            tags.dedup();
        }
        Self { table: T::TABLE, id, cells, members, is_searched: value.is_searched(), seen: None }
    }

    /// Returns the table of the row.
    #[must_use]
    pub const fn table(&self) -> &'static Table {
        self.table
    }

    /// Returns the id of the row.
    #[must_use]
    pub const fn id(&self) -> [u8; 16] {
        self.id
    }

    /// Returns the id if this is a row of a `T`.
    #[must_use]
    pub fn id_of<T: Stored>(&self) -> Option<Id<T::Kind>> {
        (self.table == T::TABLE).then(|| Id::from_bytes(self.id))
    }

    /// Returns the cells: those of the columns, the id first, then those of the derived columns.
    ///
    /// # Errors
    /// Returns [`RowWriteError`] if a value cannot be encoded. Then nothing of the change set may be saved.
    pub fn cells(&self) -> Result<&[SqlValue], RowWriteError> {
        self.cells.as_deref().map_err(Clone::clone)
    }

    /// Returns the cell of this column; `None` if the table does not have the column.
    ///
    /// # Errors
    /// Those of [`AnyRow::cells`].
    pub fn cell(&self, column: &str) -> Result<Option<&SqlValue>, RowWriteError> {
        let place = self.table.columns.iter().chain(self.table.derived).position(|other| other.name == column);
        let cells = self.cells()?;
        Ok(place.and_then(|place| cells.get(place)))
    }

    /// Returns the tags for a side table of [`Table::members`], sorted and without duplicates.
    #[must_use]
    pub fn members(&self, side: usize) -> &[[u8; 16]] {
        self.members.get(side).map_or(&[], Vec::as_slice)
    }

    /// Returns `true` if the row has a value other than its id that must be unique within its tenant.
    #[must_use]
    pub fn has_unique_value(&self) -> bool {
        let is_set =
            |column: &&str| matches!(self.cell(column), Ok(Some(cell)) if !matches!(cell, SqlValue::Null(_)));
        let mut uniques = self.table.indexes.iter().filter(|index| index.unique);
        uniques.any(|index| index.columns.iter().all(is_set))
    }

    /// Returns `true` if the row has searchable words.
    #[must_use]
    pub const fn is_searched(&self) -> bool {
        self.is_searched
    }

    /// Returns the version that the change is based on; `None` if the row must not exist.
    #[must_use]
    pub const fn version_read(&self) -> Option<Version> {
        self.seen
    }

    /// Returns the version after the write.
    #[must_use]
    pub const fn version(&self) -> Version {
        match self.seen {
            Some(version) => version.next(),
            None => Version::FIRST,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::id::{AuditId, AuditKind};
    use serde::ser::Error;
    use serde::{Serialize, Serializer};

    use crate::error::CorruptRowError;
    use crate::flat::{Cells, Column, Reader, Type};

    /// A value that cannot be serialized as JSON.
    struct UnserializableValue;

    impl Serialize for UnserializableValue {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(S::Error::custom("no form"))
        }
    }

    struct TestRow;

    const ODD: Table = Table {
        columns: &[Column::new("id", Type::Id), Column::new("shape", Type::Text), Column::new("size", Type::Text)],
        ..Table::with_name("odd")
    };

    impl Stored for TestRow {
        type Kind = AuditKind;

        const TABLE: &'static Table = &ODD;

        fn key(&self) -> AuditId {
            Id::from_bytes([7; 16])
        }

        fn write(&self, out: &mut Cells) {
            out.put(SqlValue::Id(self.key().to_bytes()));
            out.json(&UnserializableValue);
            out.json(&UnserializableValue);
        }

        fn read(_: &mut Reader<'_>) -> Result<Self, CorruptRowError> {
            Ok(Self)
        }
    }

    #[test]
    fn value_without_a_form_is_an_error_with_its_column() {
        let row = AnyRow::from_row(&Row::new(TestRow));
        let error = row.cells().unwrap_err().to_string();
        assert_eq!(error, "cannot write the value of odd.shape: no form");
        assert_eq!(row.id_of::<TestRow>(), Some(Id::from_bytes([7; 16])), "the id is known nevertheless");
    }
}
