//! Whether both stores have the same: every row of every table is read on both sides.

use candor_port_storage::StorageError;
use candor_port_storage::copy::{CopySource, CopyTarget};
use candor_tables::copy::{Checksum, CopyTable, DistinctPositions};
use candor_tables::flat::Cell;

use super::{CopiedTable, CopyError, CopyWatch, Difference};

/// Compares all tables and says what they are.
///
/// # Errors
/// [`CopyError::Differs`] naming all that differ.
pub(super) async fn compared(
    source: &dyn CopySource,
    target: &dyn CopyTarget,
    tables: &[CopyTable],
    watch: &dyn CopyWatch,
) -> Result<Vec<CopiedTable>, CopyError> {
    let (mut same, mut different) = (vec![], vec![]);
    for table in tables {
        watch.compares(table.name);
        let there = async { checksum(target, table, |_| ()).await.map_err(CopyError::Target) };
        let here = async { checksum(source, table, |rows| watch.goes_on(rows)).await.map_err(CopyError::Source) };
        let (here, there) = tokio::try_join!(here, there)?;
        if here == there {
            same.push(CopiedTable { name: table.name, checksum: here });
        } else {
            different.push(Difference { table: table.name, source: here, target: there });
        }
    }
    if different.is_empty() { Ok(same) } else { Err(CopyError::Differs(different)) }
}

/// The check sum of a table. Positions of events count as they would be where no two are the same, which shows their order.
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
            if let Some(Cell::Int(position)) = table.position().and_then(|at| row.get_mut(at)) {
                *position = positions.next(*position);
            }
            sum.add(row);
        }
        told(rows.len() as u64);
    }
    Ok(sum)
}
