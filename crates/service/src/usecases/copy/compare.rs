//! Compares both stores by reading every row of every table on both sides.

use candor_port_storage::StorageError;
use candor_port_storage::copy::{CopySource, CopyTarget};
use candor_tables::copy::{Checksum, CopyTable, DistinctPositions};
use candor_tables::flat::SqlValue;

use super::{CopiedTable, CopyError, CopyWatch, Difference};

/// Compares all tables and returns their checksums.
///
/// # Errors
/// [`CopyError::Differs`] with all tables that differ.
pub(super) async fn compare_tables(
    source: &dyn CopySource,
    target: &dyn CopyTarget,
    tables: &[CopyTable],
    watch: &dyn CopyWatch,
) -> Result<Vec<CopiedTable>, CopyError> {
    let (mut same, mut different) = (vec![], vec![]);
    for table in tables {
        watch.compares(table.name);
        let target_checksum = async { checksum(target, table, |_| ()).await.map_err(CopyError::Target) };
        let source_checksum =
            async { checksum(source, table, |rows| watch.goes_on(rows)).await.map_err(CopyError::Source) };
        let (source_checksum, target_checksum) = tokio::try_join!(source_checksum, target_checksum)?;
        if source_checksum == target_checksum {
            same.push(CopiedTable { name: table.name, checksum: source_checksum });
        } else {
            different.push(Difference { table: table.name, source: source_checksum, target: target_checksum });
        }
    }
    if different.is_empty() { Ok(same) } else { Err(CopyError::Differs(different)) }
}

/// Returns the checksum of a table. Replaces positions of events by distinct increasing ones, so that only their
/// order counts.
async fn checksum<S: CopySource + ?Sized>(
    store: &S,
    table: &CopyTable,
    told: impl Fn(u64),
) -> Result<Checksum, StorageError> {
    let (mut sum, mut positions) = (Checksum::default(), DistinctPositions::default());
    let mut stream = store.rows(table, None).await?;
    while let Some(rows) = stream.next().await {
        let mut rows = rows?;
        for row in &mut rows {
            if let Some(SqlValue::Int(position)) = table.position().and_then(|at| row.get_mut(at)) {
                *position = positions.next(*position);
            }
            sum.add(row);
        }
        told(rows.len() as u64);
    }
    Ok(sum)
}
