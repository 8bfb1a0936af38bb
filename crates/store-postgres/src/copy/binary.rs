//! Binary format of `COPY`: rows as the server reads and writes them.

use bytes::{BufMut, BytesMut};
use candor_tables::copy::fetch_cell;
use candor_tables::flat::{CellReader, SqlValue, Type};
use tokio_postgres::binary_copy::BinaryCopyOutRow;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type as SqlType, to_sql_checked};

use crate::sql::wire::{self, DecodedCell};

/// Returns a placeholder type for each column. The driver needs their number only; values are encoded by the types
/// of the table.
pub(super) fn placeholder_types(columns: usize) -> Vec<SqlType> {
    vec![SqlType::BYTEA; columns]
}

/// Reads a value of a row as a cell.
pub(super) fn cell(row: &BinaryCopyOutRow, at: usize, kind: Type) -> Result<SqlValue, String> {
    fetch_cell(&mut Field(row, at), kind)
}

/// Bytes of a value of any type.
struct RawBytes<'r>(&'r [u8]);

impl<'r> FromSql<'r> for RawBytes<'r> {
    fn from_sql(_: &SqlType, raw: &'r [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(_: &SqlType) -> bool {
        true
    }
}

/// One value of a row.
struct Field<'r>(&'r BinaryCopyOutRow, usize);

impl Field<'_> {
    fn read<T>(&self, decode: impl FnOnce(&[u8]) -> Result<T, String>) -> DecodedCell<T> {
        let value: Option<RawBytes<'_>> = self.0.try_get(self.1).map_err(|error| error.to_string())?;
        value.map(|value| decode(value.0)).transpose()
    }
}

impl CellReader for Field<'_> {
    fn id(&mut self) -> DecodedCell<[u8; 16]> {
        self.read(wire::read_fixed)
    }
    fn text(&mut self) -> DecodedCell<String> {
        self.read(wire::text)
    }
    fn int(&mut self) -> DecodedCell<i64> {
        self.read(wire::int)
    }
    fn flag(&mut self) -> DecodedCell<bool> {
        self.read(wire::flag)
    }
    fn time(&mut self) -> DecodedCell<candor_domain::time::Timestamp> {
        self.read(wire::time)
    }
    fn date(&mut self) -> DecodedCell<candor_domain::time::Date> {
        self.read(wire::date)
    }
    fn ids(&mut self) -> DecodedCell<Vec<[u8; 16]>> {
        self.read(wire::ids)
    }
    fn bytes(&mut self) -> DecodedCell<Vec<u8>> {
        self.read(|bytes| Ok(bytes.to_vec()))
    }
}

/// A cell, encoded in the binary format of its type.
#[derive(Debug)]
pub(super) struct EncodedCell<'c>(pub(super) &'c SqlValue);

impl ToSql for EncodedCell<'_> {
    fn to_sql(&self, _: &SqlType, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        if matches!(self.0, SqlValue::Null(_)) {
            return Ok(IsNull::Yes);
        }
        wire::write(self.0, &mut out.writer())?;
        Ok(IsNull::No)
    }

    fn accepts(_: &SqlType) -> bool {
        true
    }

    to_sql_checked!();
}

/// Formats a value of a key as an SQL literal.
pub(super) fn literal(cell: &SqlValue) -> String {
    let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match cell {
        SqlValue::Id(it) => format!("'{}'::uuid", digits(it)),
        SqlValue::Text(it) => format!("convert_from('\\x{}'::bytea, 'UTF8')", digits(it.as_bytes())),
        SqlValue::Int(it) => format!("'{it}'::bigint"),
        SqlValue::Time(it) => format!("'{it}'::timestamptz"),
        SqlValue::Date(it) => format!("'{it}'::date"),
        SqlValue::Flag(it) => it.to_string(),
        SqlValue::Bytes(it) => format!("'\\x{}'::bytea", digits(it)),
        SqlValue::Null(_) | SqlValue::Ids(_) => "NULL".to_owned(),
    }
}
