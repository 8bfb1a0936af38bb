//! Codecs of columns: they write a value of a resource to one column and read it back.
//!
//! Declarations with the macro of `stored.rs` name codecs by these short names, with `Option<…>` for nullable
//! columns.

use candor_domain::access::Tenant;
use candor_domain::fields::StringEnum;
use candor_domain::id::{self, Kind};
use candor_domain::time::{self, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::CorruptRowError;
use crate::flat::{Cells, Column, Reader, SqlValue, Type};

/// Type of the column that a codec writes to.
pub trait Layout {
    /// Type of the column.
    const KIND: Type;
    /// `true` if the column is nullable.
    const IS_NULLABLE: bool = false;
}

/// Writes values of one type to a column and reads them back.
pub trait Codec<T>: Layout {
    /// Appends the encoded value to the cells of a row.
    fn write(value: &T, out: &mut Cells);

    /// Reads the next column of a row.
    ///
    /// # Errors
    /// [`CorruptRowError`] naming the column.
    fn read(row: &mut Reader<'_>) -> Result<T, CorruptRowError> {
        let value = Self::read_nullable(row)?;
        value.ok_or_else(|| row.corrupt("null"))
    }

    /// Reads the next column of a row, `None` if it is null.
    ///
    /// # Errors
    /// [`CorruptRowError`] naming the column.
    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<T>, CorruptRowError>;
}

/// Codec of ids, as 16 bytes.
#[derive(Debug)]
pub struct IdColumn;
/// Codec of texts, stored unchanged.
#[derive(Debug)]
pub struct TextColumn;
/// Codec of enumerations: the variant's word, as text.
#[derive(Debug)]
pub struct OneOfColumn;
/// Codec of structured values, as JSON text.
#[derive(Debug)]
pub struct Json;
/// Codec of integers, stored with 64 bits.
#[derive(Debug)]
pub struct Int;
/// Codec of booleans, stored as SQL booleans or as 0 and 1.
#[derive(Debug)]
pub struct FlagColumn;
/// Codec of instants with millisecond precision.
#[derive(Debug)]
pub struct Time;
/// Codec of calendar days.
#[derive(Debug)]
pub struct DateColumn;
/// Codec of ordered lists of ids.
#[derive(Debug)]
pub struct IdsColumn;
/// Codec of byte strings.
#[derive(Debug)]
pub struct Bytes;

macro_rules! layouts {
    ($($codec:ident is $kind:ident),*) => {
        $(impl Layout for $codec {
            const KIND: Type = Type::$kind;
        })*
    };
}
layouts!(
    IdColumn is Id,
    TextColumn is Text,
    OneOfColumn is Text,
    Json is Text,
    Int is Int,
    FlagColumn is Flag,
    Time is Time,
    DateColumn is Date,
    IdsColumn is Ids,
    Bytes is Bytes
);

impl<C: Layout> Layout for Option<C> {
    const KIND: Type = C::KIND;
    const IS_NULLABLE: bool = true;
}

impl<T, C: Codec<T>> Codec<Option<T>> for Option<C> {
    fn write(value: &Option<T>, out: &mut Cells) {
        match value {
            Some(value) => C::write(value, out),
            None => out.put(SqlValue::Null(C::KIND)),
        }
    }

    fn read(row: &mut Reader<'_>) -> Result<Option<T>, CorruptRowError> {
        C::read_nullable(row)
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<Option<T>>, CorruptRowError> {
        C::read_nullable(row).map(Some)
    }
}

impl<K: Kind> Codec<id::Id<K>> for IdColumn {
    fn write(value: &id::Id<K>, out: &mut Cells) {
        out.put(SqlValue::Id(value.to_bytes()));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<id::Id<K>>, CorruptRowError> {
        row.opt_id()
    }
}

impl Codec<[u8; 16]> for IdColumn {
    fn write(value: &[u8; 16], out: &mut Cells) {
        out.put(SqlValue::Id(*value));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<[u8; 16]>, CorruptRowError> {
        row.opt_bytes16()
    }
}

impl Codec<Tenant> for IdColumn {
    fn write(value: &Tenant, out: &mut Cells) {
        out.put(SqlValue::Id(value.to_bytes()));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<Tenant>, CorruptRowError> {
        Ok(row.opt_bytes16()?.map(Tenant::from_bytes))
    }
}

impl Codec<String> for TextColumn {
    fn write(value: &String, out: &mut Cells) {
        out.put(SqlValue::Text(value.clone()));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<String>, CorruptRowError> {
        row.opt_text()
    }
}

impl<T: StringEnum> Codec<T> for OneOfColumn {
    fn write(value: &T, out: &mut Cells) {
        out.put(SqlValue::Text(value.word().to_owned()));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<T>, CorruptRowError> {
        row.opt_parse(|text| T::from_word(text).ok())
    }
}

impl<T: Serialize + DeserializeOwned> Codec<T> for Json {
    fn write(value: &T, out: &mut Cells) {
        out.json(value);
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<T>, CorruptRowError> {
        row.opt_parse(|text| serde_json::from_str(text).ok())
    }
}

macro_rules! integers {
    ($($number:ty),*) => {
        $(impl Codec<$number> for Int {
            fn write(value: &$number, out: &mut Cells) {
                out.put(SqlValue::Int(i64::try_from(*value).unwrap_or(i64::MAX)));
            }

            fn read_nullable(row: &mut Reader<'_>) -> Result<Option<$number>, CorruptRowError> {
                let Some(number) = row.opt_int()? else { return Ok(None) };
                let fits = <$number>::try_from(number);
                fits.map(Some).map_err(|_| row.corrupt(format!("unexpected value {number}")))
            }
        })*
    };
}
integers!(u8, u16, u32, i64, usize);

impl Codec<bool> for FlagColumn {
    fn write(value: &bool, out: &mut Cells) {
        out.put(SqlValue::Flag(*value));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<bool>, CorruptRowError> {
        row.opt_flag()
    }
}

impl Codec<Timestamp> for Time {
    fn write(value: &Timestamp, out: &mut Cells) {
        out.put(SqlValue::Time(*value));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<Timestamp>, CorruptRowError> {
        row.opt_time()
    }
}

impl Codec<time::Date> for DateColumn {
    fn write(value: &time::Date, out: &mut Cells) {
        out.put(SqlValue::Date(*value));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<time::Date>, CorruptRowError> {
        row.opt_date()
    }
}

impl<K: Kind> Codec<Vec<id::Id<K>>> for IdsColumn {
    fn write(value: &Vec<id::Id<K>>, out: &mut Cells) {
        out.put(SqlValue::Ids(value.iter().map(|id| id.to_bytes()).collect()));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<Vec<id::Id<K>>>, CorruptRowError> {
        row.opt_ids()
    }
}

impl Codec<Vec<u8>> for Bytes {
    fn write(value: &Vec<u8>, out: &mut Cells) {
        out.put(SqlValue::Bytes(value.clone()));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<Vec<u8>>, CorruptRowError> {
        row.opt_bytes()
    }
}

impl Codec<[u8; 32]> for Bytes {
    fn write(value: &[u8; 32], out: &mut Cells) {
        out.put(SqlValue::Bytes(value.to_vec()));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<[u8; 32]>, CorruptRowError> {
        row.opt_bytes32()
    }
}

/// Declares a column with a name and the type of a codec.
#[must_use]
pub const fn column<C: Layout>(name: &'static str) -> Column {
    Column { is_nullable: C::IS_NULLABLE, ..Column::new(name, C::KIND) }
}
