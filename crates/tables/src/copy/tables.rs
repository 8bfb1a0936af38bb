//! The tables that are copied, with their columns and the order of their rows.

use candor_domain::event::Event;

use crate::flat::{Cell, Column, Stored};
use crate::schema::{Copying, SchemaTable, TABLES};

/// A table whose rows are copied as they stand.
#[derive(Debug, Clone)]
pub struct CopyTable {
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub columns: Vec<Column>,
    /// The columns by which rows are told apart and in whose order they are read, by their numbers among the columns.
    pub key: Vec<usize>,
}

impl CopyTable {
    /// The key of a row.
    #[must_use]
    pub fn key_of(&self, row: &[Cell]) -> Vec<Cell> {
        self.key.iter().filter_map(|at| row.get(*at).cloned()).collect()
    }

    /// The columns of the key.
    pub fn key_columns(&self) -> impl Iterator<Item = Column> {
        self.key.iter().filter_map(|at| self.columns.get(*at).copied())
    }

    /// Where the positions of events stand, in the table that has them.
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        self.columns.iter().position(|it| self.name == Event::TABLE.name && it.name == "position")
    }
}

/// The tables that are copied, each after those that it refers to.
#[must_use]
pub fn tables() -> Vec<CopyTable> {
    TABLES.iter().filter(|table| table.copying == Copying::Rows).map(CopyTable::from).collect()
}

impl From<&SchemaTable> for CopyTable {
    fn from(table: &SchemaTable) -> Self {
        let columns = table.columns();
        let tenant = if table.has_tenant() { &["tenant_id"][..] } else { &[] };
        let order: Vec<&str> = match table.copy_order {
            Some(order) => order.to_vec(),
            None => tenant.iter().chain(table.key).copied().collect(),
        };
        let place = |name: &&str| columns.iter().position(|column| column.name == *name);
        let key = order.iter().filter_map(place).collect();
        Self { name: table.name, columns, key }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_each_table_have_an_order() {
        let all = tables();
        assert!(all.iter().all(|table| !table.key.is_empty()));
        let find = |name: &str| all.iter().find(|table| table.name == name).unwrap();
        assert_eq!(find("deliveries").key.len(), 5);
        assert_eq!(find("events").key_columns().next().unwrap().name, "position");
        assert_eq!(find("events").position(), Some(find("events").key[0]));
    }
}
