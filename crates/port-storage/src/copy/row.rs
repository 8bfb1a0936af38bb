//! Rows as cells: fetched from a store, and read as what they are where the index of words needs it.

use std::slice::Iter;

use candor_domain::access::Tenant;
use candor_domain::time::{Date, Timestamp};

use crate::flat::{Cell, Fetch, Reader, Stored, Type};
use crate::search_index::IndexEntry;
use crate::store::StorageError;

/// What the index of words has of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedRow {
    /// Whose it is.
    pub tenant: Tenant,
    /// Its id.
    pub id: [u8; 16],
    /// When it was created.
    pub created_at: Timestamp,
    /// Its tokens; none if no word finds it.
    pub tokens: Vec<String>,
}

/// The next value of a row, as a cell of this type.
///
/// # Errors
/// What is wrong with the stored value.
pub fn fetched(row: &mut dyn Fetch, kind: Type) -> Result<Cell, String> {
    let cell = match kind {
        Type::Id => row.id()?.map(Cell::Id),
        Type::Text => row.text()?.map(Cell::Text),
        Type::Int => row.int()?.map(Cell::Int),
        Type::Flag => row.flag()?.map(Cell::Flag),
        Type::Time => row.time()?.map(Cell::Time),
        Type::Date => row.date()?.map(Cell::Date),
        Type::Ids => row.ids()?.map(Cell::Ids),
        Type::Bytes => row.bytes()?.map(Cell::Bytes),
    };
    Ok(cell.unwrap_or(Cell::Null(kind)))
}

/// What a cell takes in memory, roughly.
pub(super) fn bytes(cell: &Cell) -> usize {
    let held = match cell {
        Cell::Text(it) => it.len(),
        Cell::Bytes(it) => it.len(),
        Cell::Ids(it) => it.len() * 16,
        Cell::Null(_) | Cell::Id(_) | Cell::Int(_) | Cell::Flag(_) | Cell::Time(_) | Cell::Date(_) => 0,
    };
    size_of::<Cell>() + held
}

/// Reads a resource from its cells, the tenant in front of them.
pub(super) fn index_entry<T: Stored>(row: &[Cell]) -> Result<Option<IndexEntry>, StorageError> {
    let own = row.get(1..=T::TABLE.columns.len()).unwrap_or_default();
    Ok(T::read(&mut Reader::new(&mut Values(own.iter()), T::TABLE))?.index_entry())
}

/// The cells of a resource's columns. What is looked up in other tables stands behind them and is taken for nothing: no
/// word is found by it.
struct Values<'c>(Iter<'c, Cell>);

impl Values<'_> {
    fn next<T>(&mut self, value: impl Fn(&Cell) -> Option<T>) -> Result<Option<T>, String> {
        match self.0.next() {
            None => Err("no such column".to_owned()),
            Some(Cell::Null(_)) => Ok(None),
            Some(cell) => value(cell).map(Some).ok_or_else(|| format!("{:?} instead of another type", cell.kind())),
        }
    }
}

impl Fetch for Values<'_> {
    fn id(&mut self) -> Result<Option<[u8; 16]>, String> {
        self.next(|it| if let Cell::Id(it) = it { Some(*it) } else { None })
    }
    fn text(&mut self) -> Result<Option<String>, String> {
        self.next(|it| if let Cell::Text(it) = it { Some(it.clone()) } else { None })
    }
    fn int(&mut self) -> Result<Option<i64>, String> {
        self.next(|it| if let Cell::Int(it) = it { Some(*it) } else { None })
    }
    fn flag(&mut self) -> Result<Option<bool>, String> {
        self.next(|it| if let Cell::Flag(it) = it { Some(*it) } else { None })
    }
    fn time(&mut self) -> Result<Option<Timestamp>, String> {
        self.next(|it| if let Cell::Time(it) = it { Some(*it) } else { None })
    }
    fn date(&mut self) -> Result<Option<Date>, String> {
        self.next(|it| if let Cell::Date(it) = it { Some(*it) } else { None })
    }
    fn ids(&mut self) -> Result<Option<Vec<[u8; 16]>>, String> {
        if self.0.as_slice().is_empty() {
            return Ok(Some(vec![]));
        }
        self.next(|it| if let Cell::Ids(it) = it { Some(it.clone()) } else { None })
    }
    fn bytes(&mut self) -> Result<Option<Vec<u8>>, String> {
        self.next(|it| if let Cell::Bytes(it) = it { Some(it.clone()) } else { None })
    }
}
