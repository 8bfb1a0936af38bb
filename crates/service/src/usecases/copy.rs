//! Everything of one store copied into another while no service runs on either: table by table, and compared at the end.
//!
//! How far it is stands in the target, with the rows: a copy that was interrupted goes on behind them, and nothing but a
//! copy opens a target that is not complete.

mod compare;
mod progress;

use candor_port_storage::StorageError;
use candor_port_storage::copy::{CopyProgress, CopySource, CopyTarget};
use candor_tables::copy::{Checksum, CopyTable, tables};

use progress::TableProgress;

/// Under what the target has written down where the rows come from.
const SOURCE: &str = "source";

/// Is told how far a copy is.
pub trait CopyWatch: Sync {
    /// So many rows are to be copied and then compared; so many are there from before.
    fn begins(&self, rows: u64, from_before: u64);
    /// A table is copied.
    fn copies(&self, table: &str);
    /// A table is compared.
    fn compares(&self, table: &str);
    /// So many more rows are done with.
    fn goes_on(&self, rows: u64);
    /// The target is made whole, which takes a while and has no steps.
    fn finishes(&self);
}

/// A table of the copy, which is the same in both stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedTable {
    /// Its name.
    pub name: &'static str,
    /// Its rows.
    pub checksum: Checksum,
}

/// A copy that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// Its tables.
    pub tables: Vec<CopiedTable>,
    /// Rows that were there from a copy that was interrupted.
    pub from_before: u64,
}

/// A table that is not the same in both stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Its name.
    pub table: &'static str,
    /// What it is in the source, …
    pub source: Checksum,
    /// … and in the target.
    pub target: Checksum,
}

/// Why there is no complete copy.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// There is something in the target that no copy put there.
    #[error("the target is not empty: it has rows in {0}")]
    NotEmpty(&'static str),
    /// A copy from somewhere else was begun there.
    #[error("a copy from {0} was begun there and is not complete")]
    Other(String),
    /// The source changed meanwhile, or something is broken.
    #[error("{} differ", .0.iter().map(|difference| difference.table).collect::<Vec<_>>().join(", "))]
    Differs(Vec<Difference>),
    /// The source cannot be read, …
    #[error("{0}")]
    Source(StorageError),
    /// … or the target not be written.
    #[error("{0}")]
    Target(StorageError),
}

/// Copies everything. `from` tells the source from others; a copy that was interrupted goes on with the same one only.
///
/// # Errors
/// [`CopyError`]. What was written stays, and a copy goes on behind it.
pub async fn copy(
    source: &dyn CopySource,
    target: &dyn CopyTarget,
    from: &str,
    watch: &dyn CopyWatch,
) -> Result<Copied, CopyError> {
    let (all, progress) = (tables(), begun(target, from).await?);
    let mut rows = 0;
    for table in &all {
        rows += source.count(table).await.map_err(CopyError::Source)?;
    }
    let from_before = all.iter().map(|table| TableProgress::of(&progress, table).rows).sum();
    watch.begins(rows, from_before);
    for table in &all {
        copy_table(source, target, table, TableProgress::of(&progress, table), watch).await?;
    }
    watch.finishes();
    let feed_end = source.feed_end().await.map_err(CopyError::Source)?;
    target.finish(feed_end).await.map_err(CopyError::Target)?;
    let tables = compare::compared(source, target, &all, watch).await?;
    target.accept().await.map_err(CopyError::Target)?;
    Ok(Copied { tables, from_before })
}

/// What is written down in the target, which is begun if nothing is there.
async fn begun(target: &dyn CopyTarget, from: &str) -> Result<CopyProgress, CopyError> {
    if let Some(progress) = target.progress().await.map_err(CopyError::Target)? {
        return match progress.get(SOURCE) {
            Some(it) if it == from => Ok(progress),
            other => Err(CopyError::Other(other.cloned().unwrap_or_default())),
        };
    }
    for table in tables() {
        // A database that was only migrated may know its master key already.
        let may_have_rows = table.name == "master_keys";
        if !may_have_rows && target.count(&table).await.map_err(CopyError::Target)? > 0 {
            return Err(CopyError::NotEmpty(table.name));
        }
    }
    target.begin((SOURCE.to_owned(), from.to_owned())).await.map_err(CopyError::Target)?;
    Ok(CopyProgress::new())
}

async fn copy_table(
    source: &dyn CopySource,
    target: &dyn CopyTarget,
    table: &CopyTable,
    mut progress: TableProgress,
    watch: &dyn CopyWatch,
) -> Result<(), CopyError> {
    if progress.is_done {
        return Ok(());
    }
    watch.copies(table.name);
    let after = progress.last_key(table).map_err(CopyError::Target)?;
    let mut stream = source.rows(table, after).await.map_err(CopyError::Source)?;
    while let Some(rows) = stream.next().await {
        let rows = rows.map_err(CopyError::Source)?;
        let count = rows.len() as u64;
        progress.add(table, &rows);
        target.write(table, rows, progress.step(table)).await.map_err(CopyError::Target)?;
        watch.goes_on(count);
    }
    progress.is_done = true;
    target.write(table, vec![], progress.step(table)).await.map_err(CopyError::Target)
}
