//! Checksums of tables, equal in all stores.

use ring::digest::{Context, SHA256};

use crate::flat::Cell;

/// Number of rows and the sum of their digests, which does not depend on the order of the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checksum {
    /// Number of added rows.
    pub rows: u64,
    sum: [u64; 4],
}

impl Checksum {
    /// Adds a row to the checksum.
    pub fn add(&mut self, row: &[Cell]) {
        let mut digest = Context::new(&SHA256);
        row.iter().for_each(|row| put(row, &mut digest));
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
fn put(cell: &Cell, digest: &mut Context) {
    let mut sized = |bytes: &[u8]| {
        digest.update(&[1]);
        digest.update(&(bytes.len() as u64).to_be_bytes());
        digest.update(bytes);
    };
    match cell {
        Cell::Null(_) => digest.update(&[0]),
        Cell::Id(it) => sized(it),
        Cell::Text(it) => sized(it.as_bytes()),
        Cell::Int(it) => sized(&it.to_be_bytes()),
        Cell::Flag(it) => sized(&[u8::from(*it)]),
        Cell::Time(it) => sized(&it.millis().to_be_bytes()),
        Cell::Date(it) => sized(&it.epoch_days().to_be_bytes()),
        Cell::Ids(it) => sized(it.as_flattened()),
        Cell::Bytes(it) => sized(it),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flat::Type;

    fn of(rows: &[Vec<Cell>]) -> Checksum {
        let mut sum = Checksum::default();
        rows.iter().for_each(|row| sum.add(row));
        sum
    }

    fn text(it: &str) -> Cell {
        Cell::Text(it.to_owned())
    }

    #[test]
    fn the_order_of_rows_is_nothing_and_every_value_is_something() {
        let rows = [vec![text("a"), Cell::Int(1)], vec![text("b"), Cell::Null(Type::Int)]];
        let [one, other] = rows.clone();
        assert_eq!(of(&rows), of(&[other.clone(), one.clone()]));
        for changed in [
            vec![one.clone()],
            vec![one.clone(), one.clone()],
            vec![one.clone(), vec![text("b"), Cell::Int(0)]],
            vec![one, vec![text(""), text("b")]],
            vec![vec![text("b"), Cell::Int(1)], vec![text("a"), Cell::Null(Type::Int)]],
        ] {
            assert_ne!(of(&rows), of(&changed), "{changed:?}");
        }
    }

    #[test]
    fn values_do_not_run_into_each_other() {
        assert_ne!(of(&[vec![text("ab"), text("c")]]), of(&[vec![text("a"), text("bc")]]));
        assert_eq!(of(&[]).text(), "0".repeat(64));
    }
}
