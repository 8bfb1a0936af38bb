//! Reads of a table by `COPY TO STDOUT`.

use std::pin::pin;

use candor_port_storage::StorageError;
use candor_port_storage::copy::{RowSender, RowStream};
use candor_port_storage::error::Read;
use candor_tables::copy::CopyTable;
use candor_tables::flat::{SqlValue, Type};
use futures_util::TryStreamExt;
use tokio_postgres::binary_copy::BinaryCopyOutStream;
use tokio_postgres::{Client, CopyOutStream};

use super::{binary, map_error};

/// Reads the rows after a key, on a connection of their own.
pub(super) async fn rows(client: Client, table: CopyTable, after: Option<Vec<SqlValue>>) -> Read<RowStream> {
    let (mut sender, stream) = RowStream::new();
    let copy_stream = client.copy_out(&statement(&table, after.as_deref())).await.map_err(map_error)?;
    tokio::spawn(async move {
        let read = send_all(copy_stream, &table, &mut sender).await;
        sender.end(read).await;
        drop(client);
    });
    Ok(stream)
}

async fn send_all(sent: CopyOutStream, table: &CopyTable, sender: &mut RowSender) -> Read<()> {
    let mut rows = pin!(BinaryCopyOutStream::new(sent, &binary::placeholder_types(table.columns.len())));
    while let Some(row) = rows.try_next().await.map_err(map_error)? {
        let cells = table.columns.iter().enumerate().map(|(at, column)| {
            let corrupt = |reason| StorageError::Corrupt { table: table.name, column: column.name, reason };
            binary::cell(&row, at, column.kind).map_err(corrupt)
        });
        let send_result = sender.send(cells.collect::<Read<_>>()?).await;
        send_result.map_err(|_| StorageError::Unavailable("the copy no longer reads the rows".to_owned()))?;
    }
    Ok(())
}

/// Builds the statement of the read. `COPY` takes no parameters, so the key is a literal.
fn statement(table: &CopyTable, after: Option<&[SqlValue]>) -> String {
    let columns: Vec<_> = table.columns.iter().map(|column| column.name).collect();
    // `COLLATE "C"`: text keys have the same byte order in every store, so a copy can continue after any key.
    let in_order =
        |name: &str, kind| if kind == Type::Text { format!("{name} COLLATE \"C\"") } else { name.to_owned() };
    let key: Vec<_> = table.key_columns().map(|column| in_order(column.name, column.kind)).collect();
    let (columns, key, name) = (columns.join(", "), key.join(", "), table.name);
    let start_condition = after.map_or(String::new(), |cells| {
        let values: Vec<_> = cells.iter().map(binary::literal).collect();
        format!(" WHERE ({key}) > ({})", values.join(", "))
    });
    format!("COPY (SELECT {columns} FROM {name}{start_condition} ORDER BY {key}) TO STDOUT (FORMAT binary)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::time::Timestamp;
    use candor_tables::copy::tables;

    #[test]
    fn copy_cursor_value_is_escaped_in_sql() {
        let all = tables();
        let find = |name: &str| all.iter().find(|table| table.name == name).unwrap();
        let start_key = [SqlValue::Id([1; 16]), SqlValue::Text("it's '; DROP".to_owned())];
        let text = statement(find("replays"), Some(&start_key));
        let condition = text.split(" WHERE ").nth(1).unwrap();
        assert_eq!(
            condition,
            "(tenant_id, key COLLATE \"C\") > ('01010101010101010101010101010101'::uuid, \
             convert_from('\\x6974277320273b2044524f50'::bytea, 'UTF8')) \
             ORDER BY tenant_id, key COLLATE \"C\") TO STDOUT (FORMAT binary)"
        );
        let instant = binary::literal(&SqlValue::Time(Timestamp::from_millis(1_700_000_000_123)));
        assert_eq!(instant, "'2023-11-14T22:13:20.123Z'::timestamptz");
    }
}
