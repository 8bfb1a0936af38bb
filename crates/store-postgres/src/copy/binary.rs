//! The binary form of `COPY`: rows as the server reads and writes them.

use bytes::{BufMut, Bytes, BytesMut};
use candor_port_storage::copy::{CopyRow, fetched};
use candor_port_storage::flat::{Cell, Fetch, Type};
use candor_port_storage::store::StorageError;
use tokio_postgres::binary_copy::BinaryCopyOutRow;
use tokio_postgres::types::{FromSql, Type as SqlType};

use crate::connection::wire::{self, Decoded};

/// What a stream of rows begins with: the signature, no flags, no extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// What it ends with.
const TRAILER: i16 = -1;
/// The length that stands for null.
const NULL: i32 = -1;

/// A value of a row, as a cell.
pub(super) fn cell(row: &BinaryCopyOutRow, at: usize, kind: Type) -> Result<Cell, String> {
    fetched(&mut Field(row, at), kind)
}

/// The bytes of a value, whatever it is.
struct Raw<'r>(&'r [u8]);

impl<'r> FromSql<'r> for Raw<'r> {
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
    fn read<T>(&self, decode: impl FnOnce(&[u8]) -> Result<T, String>) -> Decoded<T> {
        let value: Option<Raw<'_>> = self.0.try_get(self.1).map_err(|it| it.to_string())?;
        value.map(|it| decode(it.0)).transpose()
    }
}

impl Fetch for Field<'_> {
    fn id(&mut self) -> Decoded<[u8; 16]> {
        self.read(wire::fixed)
    }
    fn text(&mut self) -> Decoded<String> {
        self.read(wire::text)
    }
    fn int(&mut self) -> Decoded<i64> {
        self.read(wire::int)
    }
    fn flag(&mut self) -> Decoded<bool> {
        self.read(wire::flag)
    }
    fn time(&mut self) -> Decoded<candor_domain::time::Timestamp> {
        self.read(wire::time)
    }
    fn date(&mut self) -> Decoded<candor_domain::time::Date> {
        self.read(wire::date)
    }
    fn ids(&mut self) -> Decoded<Vec<[u8; 16]>> {
        self.read(wire::ids)
    }
    fn bytes(&mut self) -> Decoded<Vec<u8>> {
        self.read(|it| Ok(it.to_vec()))
    }
}

/// Rows on their way to the server.
pub(super) struct Rows {
    bytes: BytesMut,
}

impl Rows {
    /// No rows yet.
    pub(super) fn new() -> Self {
        Self { bytes: BytesMut::from(HEADER) }
    }

    /// Adds a row.
    pub(super) fn add(&mut self, row: &CopyRow) -> Result<(), StorageError> {
        self.bytes.put_i16(i16::try_from(row.len()).map_err(too_large)?);
        for cell in row {
            if matches!(cell, Cell::Null(_)) {
                self.bytes.put_i32(NULL);
            } else {
                self.field(|out| wire::write(cell, &mut out.writer()).map_err(too_large))?;
            }
        }
        Ok(())
    }

    /// Those that were added since the last time.
    pub(super) fn take(&mut self) -> Bytes {
        self.bytes.split().freeze()
    }

    /// A value behind its length.
    fn field(&mut self, write: impl FnOnce(&mut BytesMut) -> Result<(), StorageError>) -> Result<(), StorageError> {
        let at = self.bytes.len();
        self.bytes.put_i32(0);
        write(&mut self.bytes)?;
        let length = i32::try_from(self.bytes.len() - at - size_of::<i32>()).map_err(too_large)?;
        if let Some(place) = self.bytes.get_mut(at..at + size_of::<i32>()) {
            place.copy_from_slice(&length.to_be_bytes());
        }
        Ok(())
    }
}

/// What comes behind the last row.
pub(super) fn end() -> Bytes {
    Bytes::copy_from_slice(&TRAILER.to_be_bytes())
}

fn too_large(error: impl std::fmt::Display) -> StorageError {
    StorageError::Failed(format!("a value has no binary form: {error}"))
}

/// A value of a key as it stands in the text of a statement.
pub(super) fn literal(cell: &Cell) -> String {
    let digits = |bytes: &[u8]| bytes.iter().map(|it| format!("{it:02x}")).collect::<String>();
    match cell {
        Cell::Id(it) => format!("'{}'::uuid", digits(it)),
        Cell::Text(it) => format!("convert_from('\\x{}'::bytea, 'UTF8')", digits(it.as_bytes())),
        Cell::Int(it) => format!("'{it}'::bigint"),
        Cell::Time(it) => format!("'{it}'::timestamptz"),
        Cell::Date(it) => format!("'{it}'::date"),
        Cell::Flag(it) => it.to_string(),
        Cell::Bytes(it) => format!("'\\x{}'::bytea", digits(it)),
        Cell::Null(_) | Cell::Ids(_) => "NULL".to_owned(),
    }
}
