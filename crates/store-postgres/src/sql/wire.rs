//! Binary encoding of values: cells for parameters, and columns of results.

use std::io::Write;

use candor_domain::time::{Date, Timestamp};
use candor_tables::flat::{CellReader, SqlValue, Type};
use diesel::deserialize::Result as Read;
use diesel::pg::{Pg, PgValue};
use diesel::row::{Field, Row, RowIndex};
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{Array, BigInt, Binary, Bool, Date as SqlDate, Text, Timestamptz, Uuid};

/// Epoch of PostgreSQL, 2000-01-01, in days after 1970-01-01.
const EPOCH_DAYS: i32 = 10_957;
/// Epoch of PostgreSQL in milliseconds after 1970-01-01.
const EPOCH_MILLIS: i64 = EPOCH_DAYS as i64 * 86_400_000;
/// Range of `timestamptz`, in microseconds after the PostgreSQL epoch: 4713 BC to 294276 AD.
const MICROS: std::ops::RangeInclusive<i64> = -211_813_488_000_000_000..=9_223_371_331_199_999_999;
/// The earliest value of `date`, in days after the PostgreSQL epoch.
const FIRST_DAY: i32 = -2_451_545;
/// Object id of the type `uuid`, part of the binary form of an array.
const UUID_OID: u32 = 2950;

/// A cell that can be bound as a parameter.
#[derive(Debug, Clone)]
pub(crate) struct Value(pub(crate) SqlValue);

/// SQL types that a cell can be bound as.
pub(crate) trait BindType {}
impl BindType for Uuid {}
impl BindType for Text {}
impl BindType for BigInt {}
impl BindType for Bool {}
impl BindType for Timestamptz {}
impl BindType for SqlDate {}
impl BindType for Array<Uuid> {}
impl BindType for Binary {}

impl<T: BindType> ToSql<T, Pg> for Value {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        if matches!(self.0, SqlValue::Null(_)) {
            return Ok(IsNull::Yes);
        }
        write(&self.0, out)?;
        Ok(IsNull::No)
    }
}

/// Writes the value of a cell; writes nothing for null.
pub(crate) fn write(
    cell: &SqlValue,
    out: &mut impl Write,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    match cell {
        SqlValue::Null(_) => {}
        SqlValue::Id(it) => out.write_all(it)?,
        SqlValue::Text(it) => out.write_all(it.as_bytes())?,
        SqlValue::Int(it) => out.write_all(&it.to_be_bytes())?,
        SqlValue::Flag(it) => out.write_all(&[u8::from(*it)])?,
        SqlValue::Time(it) => out.write_all(&micros(*it).to_be_bytes())?,
        SqlValue::Date(it) => out.write_all(&days(*it).to_be_bytes())?,
        SqlValue::Ids(it) => write_ids(it, out)?,
        SqlValue::Bytes(it) => out.write_all(it)?,
    }
    Ok(())
}

/// Converts an instant to microseconds after the PostgreSQL epoch, clamped to the range of `timestamptz`: a forged
/// cursor may contain any number.
fn micros(at: Timestamp) -> i64 {
    let micros = at.millis().saturating_sub(EPOCH_MILLIS).saturating_mul(1000);
    micros.clamp(*MICROS.start(), *MICROS.end())
}

fn days(date: Date) -> i32 {
    date.epoch_days().saturating_sub(EPOCH_DAYS).max(FIRST_DAY)
}

fn write_ids(ids: &[[u8; 16]], out: &mut impl Write) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let dimensions = i32::from(!ids.is_empty());
    out.write_all(&dimensions.to_be_bytes())?;
    out.write_all(&0_i32.to_be_bytes())?;
    out.write_all(&UUID_OID.to_be_bytes())?;
    if dimensions == 1 {
        out.write_all(&i32::try_from(ids.len())?.to_be_bytes())?;
        out.write_all(&1_i32.to_be_bytes())?;
    }
    for id in ids {
        out.write_all(&16_i32.to_be_bytes())?;
        out.write_all(id)?;
    }
    Ok(())
}

/// Formats ids as the text of an array. PostgreSQL has no arrays of arrays of different lengths.
pub(crate) fn ids_as_text(ids: &[[u8; 16]]) -> String {
    let ids: Vec<_> = ids.iter().map(|id| format!("{:032x}", u128::from_be_bytes(*id))).collect();
    format!("{{{}}}", ids.join(","))
}

/// Returns the type of an array's elements for cells of this type.
pub(crate) const fn element(kind: Type) -> Type {
    match kind {
        Type::Ids => Type::Text,
        Type::Id | Type::Text | Type::Int | Type::Flag | Type::Time | Type::Date | Type::Bytes => kind,
    }
}

/// Fetches the columns of a row in their order.
pub(crate) struct Columns<'a, R> {
    row: &'a R,
    at: usize,
    /// Total size of the values read so far, in bytes.
    size: usize,
}

impl<'a, R> Columns<'a, R> {
    pub(crate) const fn new(row: &'a R) -> Self {
        Self { row, at: 0, size: 0 }
    }
}

impl<'a, R> Columns<'a, R>
where
    R: Row<'a, Pg> + RowIndex<usize>,
{
    fn next<T>(&mut self, decode: impl FnOnce(&[u8]) -> Result<T, String>) -> Result<Option<T>, String> {
        let field = self.row.get(self.at).ok_or("no such column")?;
        self.at += 1;
        let value: Option<PgValue<'_>> = field.value();
        self.size += value.as_ref().map_or(0, |value| value.as_bytes().len());
        value.map(|value| decode(value.as_bytes())).transpose()
    }
}

/// A decoded value, `None` for null, or the reason why it is invalid.
pub(crate) type DecodedCell<T> = Result<Option<T>, String>;

pub(crate) fn read_fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N], String> {
    <[u8; N]>::try_from(bytes).map_err(|_| format!("{} bytes instead of {N}", bytes.len()))
}

pub(crate) fn text(bytes: &[u8]) -> Result<String, String> {
    String::from_utf8(bytes.to_vec()).map_err(|error| error.to_string())
}

pub(crate) fn int(bytes: &[u8]) -> Result<i64, String> {
    read_fixed(bytes).map(i64::from_be_bytes)
}

pub(crate) fn flag(bytes: &[u8]) -> Result<bool, String> {
    read_fixed(bytes).map(|bytes: [u8; 1]| bytes != [0])
}

pub(crate) fn time(bytes: &[u8]) -> Result<Timestamp, String> {
    let micros = int(bytes)?;
    if !MICROS.contains(&micros) {
        return Err("not a finite instant".to_owned());
    }
    Ok(Timestamp::from_millis(micros.div_euclid(1000) + EPOCH_MILLIS))
}

pub(crate) fn date(bytes: &[u8]) -> Result<Date, String> {
    let days = i32::from_be_bytes(read_fixed(bytes)?);
    let days = days.checked_add(EPOCH_DAYS).filter(|_| days >= FIRST_DAY);
    days.map(Date::from_epoch_days).ok_or_else(|| "not a finite day".to_owned())
}

pub(crate) fn ids(bytes: &[u8]) -> Result<Vec<[u8; 16]>, String> {
    read_ids(bytes).map_err(|error| error.to_string())
}

impl<'a, R> CellReader for Columns<'a, R>
where
    R: Row<'a, Pg> + RowIndex<usize>,
{
    fn id(&mut self) -> DecodedCell<[u8; 16]> {
        self.next(read_fixed)
    }
    fn text(&mut self) -> DecodedCell<String> {
        self.next(text)
    }
    fn int(&mut self) -> DecodedCell<i64> {
        self.next(int)
    }
    fn flag(&mut self) -> DecodedCell<bool> {
        self.next(flag)
    }
    fn time(&mut self) -> DecodedCell<Timestamp> {
        self.next(time)
    }
    fn date(&mut self) -> DecodedCell<Date> {
        self.next(date)
    }
    fn ids(&mut self) -> DecodedCell<Vec<[u8; 16]>> {
        self.next(ids)
    }
    fn bytes(&mut self) -> DecodedCell<Vec<u8>> {
        self.next(|bytes| Ok(bytes.to_vec()))
    }
    fn size(&self) -> usize {
        self.size
    }
}

fn read_ids(bytes: &[u8]) -> Read<Vec<[u8; 16]>> {
    let (dimensions, rest) = bytes.split_first_chunk().ok_or("no dimensions")?;
    // The null flag and the element type follow the number of dimensions; then each dimension's size and lower
    // bound.
    let rest = rest.get(8..).ok_or("no element type")?;
    let mut rest = match i32::from_be_bytes(*dimensions) {
        0 => return Ok(vec![]),
        1 => rest.get(8..).ok_or("no size")?,
        other => return Err(format!("{other} dimensions").into()),
    };
    let mut ids = vec![];
    while let Some((length, behind)) = rest.split_first_chunk() {
        if i32::from_be_bytes(*length) != 16 {
            return Err("an element is not an id".into());
        }
        let (id, behind) = behind.split_first_chunk().ok_or("an element is cut off")?;
        ids.push(*id);
        rest = behind;
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_round_trip_through_a_binary_array() {
        for ids in [vec![], vec![[1; 16]], vec![[1; 16], [2; 16], [1; 16]]] {
            let mut bytes = vec![];
            write_ids(&ids, &mut bytes).unwrap();
            assert_eq!(read_ids(&bytes).unwrap(), ids);
        }
        for broken in [&[][..], &[0, 0, 0, 2], &[0; 5], &[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]] {
            assert!(read_ids(broken).is_err(), "{broken:?}");
        }
    }

    #[test]
    fn time_outside_the_server_range_is_clamped() {
        assert_eq!(micros(Timestamp::from_millis(EPOCH_MILLIS + 5)), 5000);
        assert_eq!(micros(Timestamp::from_millis(i64::MIN)), *MICROS.start());
        assert_eq!(micros(Timestamp::from_millis(i64::MAX)), *MICROS.end());
        assert_eq!(days(Date::from_epoch_days(EPOCH_DAYS + 1)), 1);
        assert_eq!(days(Date::from_epoch_days(i32::MIN)), FIRST_DAY);
    }

    #[test]
    fn ids_are_formatted_as_an_array_literal() {
        assert_eq!(ids_as_text(&[]), "{}");
        assert_eq!(ids_as_text(&[[0; 16], [255; 16]]), format!("{{{},{}}}", "0".repeat(32), "f".repeat(32)));
    }
}
