//! Reader of the rows of a table, in key order.

use std::thread::Builder;

use candor_port_storage::StorageError;
use candor_port_storage::copy::{RowSender, RowStream};
use candor_port_storage::error::Read;
use candor_tables::copy::{CopyTable, fetch_cell};
use candor_tables::flat::{CellReader, SqlValue};

use crate::connection::open::read_only;
use crate::sql::{Db, Sql};

/// Reads the rows after a key, on a thread and a connection of their own.
pub(super) fn rows(address: &str, table: CopyTable, after: Option<Vec<SqlValue>>) -> Read<RowStream> {
    let mut db = read_only(address)?;
    let (mut sender, stream) = RowStream::new();
    let work = move || {
        let read = send_all(&mut db, &table, after, &mut sender);
        sender.end_blocking(read);
    };
    let thread_result = Builder::new().name("candor-copy".to_owned()).spawn(work);
    thread_result.map_err(|error| StorageError::Unavailable(format!("cannot start a thread: {error}")))?;
    Ok(stream)
}

fn send_all(db: &mut Db, table: &CopyTable, after: Option<Vec<SqlValue>>, sender: &mut RowSender) -> Read<()> {
    let to_stopped = |_| StorageError::Unavailable("the copy no longer reads the rows".to_owned());
    let send_result =
        db.rows(statement(table, after), |row| sender.send_blocking(read(row, table)?).map_err(to_stopped));
    send_result.map(drop)
}

fn statement(table: &CopyTable, after: Option<Vec<SqlValue>>) -> Sql {
    let columns: Vec<_> = table.columns.iter().map(|column| column.name).collect();
    let key: Vec<_> = table.key_columns().map(|column| column.name).collect();
    let (columns, key, name) = (columns.join(", "), key.join(", "), table.name);
    let start_condition = after
        .as_ref()
        .map_or(String::new(), |cells| format!(" WHERE ({key}) > ({})", vec!["?"; cells.len()].join(", ")));
    Sql::new(format!("SELECT {columns} FROM {name}{start_condition} ORDER BY {key}"))
        .bind_all(after.unwrap_or_default())
}

fn read(row: &mut dyn CellReader, table: &CopyTable) -> Read<Vec<SqlValue>> {
    let cell = |column: &candor_tables::flat::Column| {
        let corrupt = |reason| StorageError::Corrupt { table: table.name, column: column.name, reason };
        fetch_cell(row, column.kind).map_err(corrupt)
    };
    table.columns.iter().map(cell).collect()
}
