//! Decoding of a row of SQLite, column by column.

use diesel::row::{Field, Row};
use diesel::sqlite::{Sqlite, SqliteType, SqliteValue};

use candor_domain::access::Tenant;
use candor_domain::time::{Date, Timestamp};
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_tables::flat::CellReader;

/// Reader of one row's columns, from the first to the last.
pub(crate) struct Columns<'r, R> {
    row: &'r R,
    next: usize,
    /// Total bytes of the texts and byte strings read so far, without ids.
    size: usize,
}

impl<'r, R> Columns<'r, R> {
    pub(crate) const fn new(row: &'r R) -> Self {
        Self { row, next: 0, size: 0 }
    }

    fn value<'s, T>(
        &mut self,
        kind: SqliteType,
        read: impl FnOnce(&mut SqliteValue<'_, '_, '_>) -> Result<T, String>,
    ) -> Result<Option<T>, String>
    where
        R: Row<'s, Sqlite>,
    {
        let field = self.row.get(self.next).ok_or("no such column")?;
        self.next += 1;
        let Some(mut value) = field.value() else { return Ok(None) };
        match value.value_type() {
            Some(it) if it == kind => read(&mut value).map(Some),
            other => Err(format!("{other:?} instead of {kind:?}")),
        }
    }

    fn number<'s>(&mut self) -> Result<Option<i64>, String>
    where
        R: Row<'s, Sqlite>,
    {
        self.value(SqliteType::Long, |value| Ok(value.read_long()))
    }
}

impl<'s, R: Row<'s, Sqlite>> CellReader for Columns<'_, R> {
    fn id(&mut self) -> Result<Option<[u8; 16]>, String> {
        self.value(SqliteType::Binary, |value| id(value.read_blob()))
    }

    fn text(&mut self) -> Result<Option<String>, String> {
        let text = self.value(SqliteType::Text, |value| Ok(value.read_text().to_owned()))?;
        self.size += text.as_ref().map_or(0, String::len);
        Ok(text)
    }

    fn int(&mut self) -> Result<Option<i64>, String> {
        self.number()
    }

    fn flag(&mut self) -> Result<Option<bool>, String> {
        match self.number()? {
            None => Ok(None),
            Some(0) => Ok(Some(false)),
            Some(1) => Ok(Some(true)),
            Some(other) => Err(format!("{other} is no boolean")),
        }
    }

    fn time(&mut self) -> Result<Option<Timestamp>, String> {
        Ok(self.number()?.map(Timestamp::from_millis))
    }

    fn date(&mut self) -> Result<Option<Date>, String> {
        let Some(days) = self.number()? else { return Ok(None) };
        let days = i32::try_from(days).map_err(|_| format!("{days} is no day"))?;
        Ok(Some(Date::from_epoch_days(days)))
    }

    fn ids(&mut self) -> Result<Option<Vec<[u8; 16]>>, String> {
        self.value(SqliteType::Binary, |value| value.read_blob().chunks(ID_BYTES).map(id).collect())
    }

    fn bytes(&mut self) -> Result<Option<Vec<u8>>, String> {
        let bytes = self.value(SqliteType::Binary, |value| Ok(value.read_blob().to_vec()))?;
        self.size += bytes.as_ref().map_or(0, Vec::len);
        Ok(bytes)
    }

    fn size(&self) -> usize {
        self.size
    }
}

/// Reads the leading `tenant_id` column of a cross-tenant query.
pub(crate) fn tenant_of(row: &mut dyn CellReader, table: &'static str) -> Read<Tenant> {
    let corrupt = |reason| StorageError::Corrupt { table, column: "tenant_id", reason };
    let bytes = row.id().map_err(corrupt)?.ok_or_else(|| corrupt("null".to_owned()))?;
    Ok(Tenant::from_bytes(bytes))
}

const ID_BYTES: usize = 16;

fn id(bytes: &[u8]) -> Result<[u8; 16], String> {
    bytes.try_into().map_err(|_| format!("{} bytes instead of {ID_BYTES}", bytes.len()))
}
