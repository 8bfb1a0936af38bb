//! Writes into the target of a copy: rows and progress in one transaction.

use std::collections::BTreeSet;
use std::pin::pin;

use candor_domain::time::Date;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_subscriptions::Delivery;
use candor_tables::copy::{CopyRow, CopyTable};
use candor_tables::flat::{SqlValue, Stored};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::{Client, Transaction};

use super::{binary, map_error, schema};
use crate::queue::day_partition;

/// Adds rows and records the progress.
pub(super) async fn write(
    client: &mut Client,
    table: &CopyTable,
    rows: Vec<CopyRow>,
    step: (String, String),
) -> Read<()> {
    let transaction = client.transaction().await.map_err(map_error)?;
    if table.name == Delivery::TABLE.name {
        make_days(&transaction, table, &rows).await?;
    }
    if !rows.is_empty() {
        send(&transaction, table, &rows).await?;
    }
    schema::write_down(&transaction, &step).await?;
    transaction.commit().await.map_err(map_error)
}

async fn send(transaction: &Transaction<'_>, table: &CopyTable, rows: &[CopyRow]) -> Read<()> {
    let columns: Vec<_> = table.columns.iter().map(|column| column.name).collect();
    let text = format!("COPY {} ({}) FROM STDIN (FORMAT binary)", table.name, columns.join(", "));
    let sink = transaction.copy_in(&text).await.map_err(map_error)?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &binary::placeholder_types(columns.len())));
    for row in rows {
        // The driver's writer panics on a wrong number of values.
        if row.len() != columns.len() {
            return Err(StorageError::Failed(format!("a row of {} has {} columns", table.name, row.len())));
        }
        let values: Vec<_> = row.iter().map(binary::EncodedCell).collect();
        writer.as_mut().write_raw(values).await.map_err(map_error)?;
    }
    writer.finish().await.map(drop).map_err(map_error)
}

/// Creates the daily partitions of the delivery log for these rows. Without the permission, the rows go into the
/// default partition, as they do while a service runs.
async fn make_days(transaction: &Transaction<'_>, table: &CopyTable, rows: &[CopyRow]) -> Read<()> {
    let Some(time_index) = table.columns.iter().position(|column| column.name == "created_at") else {
        return Err(StorageError::Failed("the delivery log has no column created_at".to_owned()));
    };
    let day =
        |row: &CopyRow| if let Some(SqlValue::Time(it)) = row.get(time_index) { Some(it.date()) } else { None };
    for day in rows.iter().filter_map(day).collect::<BTreeSet<Date>>() {
        schema::make_partition(transaction, &day_partition(day), day).await?;
    }
    Ok(())
}
