//! Checksums of tables, equal in all stores.

use ring::digest::{Context, SHA256};

use crate::flat::SqlValue;

/// Number of rows and the sum of their digests, which does not depend on the order of the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checksum {
    /// Number of added rows.
    pub rows: u64,
    sum: [u64; 4],
}

impl Checksum {
    /// Adds a row to the checksum.
    pub fn add(&mut self, row: &[SqlValue]) {
        let mut digest = Context::new(&SHA256);
        row.iter().for_each(|cell| put(cell, &mut digest));
        let digest = digest.finish();
        for (sum, part) in self.sum.iter_mut().zip(digest.as_ref().as_chunks::<8>().0) {
            *sum = sum.wrapping_add(u64::from_be_bytes(*part));
        }
        self.rows += 1;
    }

    /// Returns the sum in hexadecimal.
    #[must_use]
    pub fn text(&self) -> String {
        self.sum.iter().map(|word| format!("{word:016x}")).collect()
    }
}

/// Encodes a value unambiguously within its column: a null flag, the length and the bytes.
fn put(cell: &SqlValue, digest: &mut Context) {
    let mut put_sized = |bytes: &[u8]| {
        digest.update(&[1]);
        digest.update(&(bytes.len() as u64).to_be_bytes());
        digest.update(bytes);
    };
    match cell {
        SqlValue::Null(_) => digest.update(&[0]),
        SqlValue::Id(it) => put_sized(it),
        SqlValue::Text(it) => put_sized(it.as_bytes()),
        SqlValue::Int(it) => put_sized(&it.to_be_bytes()),
        SqlValue::Flag(it) => put_sized(&[u8::from(*it)]),
        SqlValue::Time(it) => put_sized(&it.millis().to_be_bytes()),
        SqlValue::Date(it) => put_sized(&it.epoch_days().to_be_bytes()),
        SqlValue::Ids(it) => put_sized(it.as_flattened()),
        SqlValue::Bytes(it) => put_sized(it),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flat::Type;

    fn from_rows(rows: &[Vec<SqlValue>]) -> Checksum {
        let mut sum = Checksum::default();
        rows.iter().for_each(|row| sum.add(row));
        sum
    }

    fn text(it: &str) -> SqlValue {
        SqlValue::Text(it.to_owned())
    }

    #[test]
    fn checksum_ignores_row_order_but_covers_every_value() {
        let rows = [vec![text("a"), SqlValue::Int(1)], vec![text("b"), SqlValue::Null(Type::Int)]];
        let [one, other] = rows.clone();
        assert_eq!(from_rows(&rows), from_rows(&[other.clone(), one.clone()]));
        for changed in [
            vec![one.clone()],
            vec![one.clone(), one.clone()],
            vec![one.clone(), vec![text("b"), SqlValue::Int(0)]],
            vec![one, vec![text(""), text("b")]],
            vec![vec![text("b"), SqlValue::Int(1)], vec![text("a"), SqlValue::Null(Type::Int)]],
        ] {
            assert_ne!(from_rows(&rows), from_rows(&changed), "{changed:?}");
        }
    }

    #[test]
    fn checksum_separates_adjacent_values() {
        assert_ne!(from_rows(&[vec![text("ab"), text("c")]]), from_rows(&[vec![text("a"), text("bc")]]));
        assert_eq!(from_rows(&[]).text(), "0".repeat(64));
    }
}
