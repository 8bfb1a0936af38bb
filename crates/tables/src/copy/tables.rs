//! The copied tables with their columns and the order of their rows.

use candor_domain::event::Event;

use crate::flat::{Column, SqlValue, Stored};
use crate::schema::{Copying, SchemaTable, TABLES};

/// A table whose rows are copied unchanged.
#[derive(Debug, Clone)]
pub struct CopyTable {
    /// Name of the table.
    pub name: &'static str,
    /// Copied columns in the order of the cells.
    pub columns: Vec<Column>,
    /// Indexes into `columns` of the key, which identifies and orders the rows.
    pub key: Vec<usize>,
}

impl CopyTable {
    /// Returns the key of a row.
    #[must_use]
    pub fn key_of(&self, row: &[SqlValue]) -> Vec<SqlValue> {
        self.key.iter().filter_map(|at| row.get(*at).cloned()).collect()
    }

    /// Returns the columns of the key.
    pub fn key_columns(&self) -> impl Iterator<Item = Column> {
        self.key.iter().filter_map(|at| self.columns.get(*at).copied())
    }

    /// Returns the index of the position column, if this is the table of events.
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        self.columns.iter().position(|column| self.name == Event::TABLE.name && column.name == "position")
    }
}

/// Returns the copied tables, each after the tables that it references.
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
    fn copied_tables_have_a_unique_row_order() {
        let all = tables();
        assert!(all.iter().all(|table| !table.key.is_empty()));
        let find = |name: &str| all.iter().find(|table| table.name == name).unwrap();
        assert_eq!(find("deliveries").key.len(), 5);
        assert_eq!(find("events").key_columns().next().unwrap().name, "position");
        assert_eq!(find("events").position(), Some(find("events").key[0]));
    }
}
