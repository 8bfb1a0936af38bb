//! A copy that is interrupted at any step continues from its progress record.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use candor_port_storage::StorageError;
use candor_port_storage::copy::{CopyProgress, CopySource, CopyTarget, RowStream};
use candor_port_storage::error::Read;
use candor_service::usecases::copy::CopyError;
use candor_tables::copy::{CopyRow, CopyTable};
use candor_tables::flat::SqlValue;

use super::ends::{File, copied, empty_postgres, progress, source_in, target_in};

/// A target whose first `succeeding_steps` steps succeed. Later steps fail, either without an effect or, if
/// `has_effect`, after their effect, as if the answer were lost.
struct InterruptedTarget<'t> {
    target: &'t dyn CopyTarget,
    steps: AtomicUsize,
    succeeding_steps: usize,
    has_effect: bool,
}

impl<'t> InterruptedTarget<'t> {
    fn new(target: &'t dyn CopyTarget, succeeding_steps: usize, has_effect: bool) -> Self {
        Self { target, steps: AtomicUsize::new(0), succeeding_steps, has_effect }
    }

    async fn step(&self, work: impl Future<Output = Read<()>>) -> Read<()> {
        if self.steps.fetch_add(1, Ordering::Relaxed) < self.succeeding_steps {
            return work.await;
        }
        if self.has_effect {
            work.await?;
        }
        Err(StorageError::Unavailable("a test".to_owned()))
    }
}

#[async_trait]
impl CopySource for InterruptedTarget<'_> {
    async fn count(&self, table: &CopyTable) -> Read<u64> {
        self.target.count(table).await
    }
    async fn rows(&self, table: &CopyTable, after: Option<Vec<SqlValue>>) -> Read<RowStream> {
        self.target.rows(table, after).await
    }
    async fn feed_end(&self) -> Read<i64> {
        self.target.feed_end().await
    }
}

#[async_trait]
impl CopyTarget for InterruptedTarget<'_> {
    async fn progress(&self) -> Read<Option<CopyProgress>> {
        self.target.progress().await
    }
    async fn begin(&self, first: (String, String)) -> Read<()> {
        self.step(self.target.begin(first)).await
    }
    async fn write(&self, table: &CopyTable, rows: Vec<CopyRow>, step: (String, String)) -> Read<()> {
        self.step(self.target.write(table, rows, step)).await
    }
    async fn finish(&self, feed_end: i64) -> Read<()> {
        self.step(self.target.finish(feed_end)).await
    }
    async fn accept(&self) -> Read<()> {
        self.step(self.target.accept()).await
    }
}

/// Runs a copy again and again until it is complete. Each run is interrupted at its second step, or one step
/// later than the run before if that run made no progress. Returns the number of runs.
async fn step_by_step(source: &dyn CopyTarget, target: &dyn CopyTarget, has_effect: bool) -> usize {
    let (mut runs, mut succeeding_steps) = (0, 1);
    loop {
        runs += 1;
        let progress_before = target.progress().await.unwrap();
        match copied(source, &InterruptedTarget::new(target, succeeding_steps, has_effect)).await {
            Err(CopyError::Target(StorageError::Unavailable(_))) => {}
            Ok(done) => {
                assert!(done.from_before > 10_000);
                return runs;
            }
            Err(other) => panic!("{other}"),
        }
        let progress_after = target.progress().await.unwrap();
        if progress_after.is_none() && progress_before.is_some() {
            return runs;
        }
        succeeding_steps = if progress_after == progress_before { succeeding_steps + 1 } else { 1 };
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_into_sqlite_resumes_after_every_step() {
    let source = File::full().await;
    let whole = copied(&source.source(), &File::new().target()).await.unwrap();
    for has_effect in [false, true] {
        let file = File::new();
        let runs = step_by_step(&source.source(), &file.target(), has_effect).await;
        assert!(runs > whole.tables.len(), "{runs}");
        assert_eq!(progress(&file.path()).await, None);
        assert_eq!(copied(&file.source(), &File::new().target()).await.unwrap().tables, whole.tables);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_into_postgres_resumes_after_every_step() {
    let source = File::full().await;
    let whole = copied(&source.source(), &File::new().target()).await.unwrap();
    for has_effect in [false, true] {
        let Some(database) = empty_postgres() else { return };
        let runs = step_by_step(&source.source(), &target_in(&database).await, has_effect).await;
        assert!(runs > whole.tables.len(), "{runs}");
        assert_eq!(copied(&source_in(&database).await, &File::new().target()).await.unwrap().tables, whole.tables);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_from_postgres_resumes_after_every_step() {
    let Some(database) = empty_postgres() else { return };
    let first = copied(&File::full().await.source(), &target_in(&database).await).await.unwrap();
    let file = File::new();
    step_by_step(&source_in(&database).await, &file.target(), true).await;
    assert_eq!(copied(&file.source(), &File::new().target()).await.unwrap().tables, first.tables);
}
