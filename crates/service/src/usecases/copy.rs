//! Copies one store into another while no service runs on either: table by table, with a comparison at the end.
//!
//! The target stores the progress together with the rows. An interrupted copy continues after the last row, and
//! only a copy opens an incomplete target.

mod compare;
mod progress;

use candor_port_storage::StorageError;
use candor_port_storage::copy::{CopyProgress, CopySource, CopyTarget};
use candor_tables::copy::{Checksum, CopyTable, tables};

use progress::TableProgress;

/// Progress key under which the target stores the source's identity.
const SOURCE: &str = "source";

/// Observer of the progress of a copy.
pub trait CopyWatch: Sync {
    /// Called at the start with the number of rows to copy and compare, and of those already copied by an
    /// earlier run.
    fn begins(&self, rows: u64, from_before: u64);
    /// Called when the copy of a table begins.
    fn copies(&self, table: &str);
    /// Called when the comparison of a table begins.
    fn compares(&self, table: &str);
    /// Called when `rows` more rows are copied or compared.
    fn goes_on(&self, rows: u64);
    /// Called before the target is completed, which takes a while and reports no progress.
    fn finishes(&self);
}

/// A table that is identical in both stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedTable {
    /// Name of the table.
    pub name: &'static str,
    /// Checksum of all rows.
    pub checksum: Checksum,
}

/// Result of a complete copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyResult {
    /// All tables of the copy, with their results.
    pub tables: Vec<CopiedTable>,
    /// Number of rows that an interrupted earlier run had copied.
    pub from_before: u64,
}

/// A table that differs between the stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Name of the table.
    pub table: &'static str,
    /// Checksum in the source.
    pub source: Checksum,
    /// Checksum in the target.
    pub target: Checksum,
}

/// Reason why the copy is incomplete.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The target has rows that no copy wrote.
    #[error("the target is not empty: it has rows in {0}")]
    NotEmpty(&'static str),
    /// The target has an unfinished copy from another source.
    #[error("a copy from {0} into this database is not complete")]
    Other(String),
    /// The source changed meanwhile, or one of the stores is corrupt.
    #[error("{} differ", .0.iter().map(|difference| difference.table).collect::<Vec<_>>().join(", "))]
    Differs(Vec<Difference>),
    /// Cannot read the source.
    #[error("{0}")]
    Source(StorageError),
    /// Cannot write to the target.
    #[error("{0}")]
    Target(StorageError),
}

/// Copies all tables. `from` identifies the source: an interrupted copy continues only from the same source.
///
/// # Errors
/// [`CopyError`]. Rows written so far stay, and the next copy continues after them.
pub async fn copy(
    source: &dyn CopySource,
    target: &dyn CopyTarget,
    from: &str,
    watch: &dyn CopyWatch,
) -> Result<CopyResult, CopyError> {
    let (all, progress) = (tables(), load_or_begin(target, from).await?);
    let mut rows = 0;
    for table in &all {
        rows += source.count(table).await.map_err(CopyError::Source)?;
    }
    let from_before = all.iter().map(|table| TableProgress::parse(&progress, table).rows).sum();
    watch.begins(rows, from_before);
    for table in &all {
        copy_table(source, target, table, TableProgress::parse(&progress, table), watch).await?;
    }
    watch.finishes();
    let feed_end = source.feed_end().await.map_err(CopyError::Source)?;
    target.finish(feed_end).await.map_err(CopyError::Target)?;
    let tables = compare::compare_tables(source, target, &all, watch).await?;
    target.accept().await.map_err(CopyError::Target)?;
    Ok(CopyResult { tables, from_before })
}

/// Returns the progress stored in the target. Begins the copy if there is none.
async fn load_or_begin(target: &dyn CopyTarget, from: &str) -> Result<CopyProgress, CopyError> {
    if let Some(progress) = target.progress().await.map_err(CopyError::Target)? {
        return match progress.get(SOURCE) {
            Some(it) if it == from => Ok(progress),
            other => Err(CopyError::Other(other.cloned().unwrap_or_default())),
        };
    }
    for table in tables() {
        // A migrated but otherwise empty database may have its master key record already.
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
    let last_key = progress.last_key(table).map_err(CopyError::Target)?;
    let mut stream = source.rows(table, last_key).await.map_err(CopyError::Source)?;
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
