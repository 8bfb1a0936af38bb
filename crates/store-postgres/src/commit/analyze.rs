//! Analyzes tables that have just begun to grow.
//!
//! Without statistics, the planner rates all indexes that begin with the tenant alike, and sessions keep the plan
//! that it then chooses. A lookup by id or a foreign-key check may read all rows of the tenant. Autovacuum runs only
//! once a minute, and an import can add thousands of people in that time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::connection::pool::PooledConnection;
use crate::connection::session::run;
use crate::failure::Failure;
use crate::nodes::Nodes;
use crate::sql::Sql;

/// Number of written rows that triggers the first look for unanalyzed tables.
const MANY: usize = 50;

/// Query for tables of more than one page that the server estimates at fewer than 100 rows: they were probably
/// never analyzed.
const UNKNOWN: &str = "SELECT oid::regclass::text FROM pg_class \
    WHERE relnamespace = current_schema()::regnamespace \
    AND relkind = 'r' AND reltuples < 100 AND pg_relation_size(oid) > 8192";

/// Number of rows that this process has written. Clones share the count.
#[derive(Clone, Default)]
pub(super) struct AnalyzeTrigger(Arc<AtomicUsize>);

impl AnalyzeTrigger {
    /// Counts rows that were written together, and analyzes tables without statistics: after each large write, and
    /// each time the total doubles. A failure costs only speed.
    pub(super) async fn record_writes(&self, rows: usize, nodes: &Nodes) {
        if !self.is_worth_asking(rows) {
            return;
        }
        let Ok(connection) = nodes.connection(&[]).await else { return };
        match analyze_stale_tables(&connection).await {
            Ok(()) => connection.give_back(),
            Err(failure) => tracing::debug!(reason = failure.text(), "cannot analyze the tables"),
        }
    }

    fn is_worth_asking(&self, rows: usize) -> bool {
        let rows_before = self.0.fetch_add(rows, Ordering::Relaxed);
        let doublings = |rows: usize| (rows / MANY).checked_ilog2();
        rows >= MANY || doublings(rows_before) != doublings(rows_before.saturating_add(rows))
    }
}

async fn analyze_stale_tables(held: &PooledConnection) -> Result<(), Failure> {
    let connection = held.get()?;
    let unknown = run(connection, &Sql::plain(UNKNOWN), |row| row.text().map_err(Failure::Other)).await?;
    let tables = unknown.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if !tables.is_empty() {
        // `SKIP_LOCKED`: a table that is being vacuumed gets its statistics from autovacuum.
        run(connection, &Sql::plain(&format!("ANALYZE (SKIP_LOCKED) {tables}")), |_| Ok(())).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analysis_is_due_at_each_doubling_and_large_change_set() {
        let growth = AnalyzeTrigger::default();
        let due_count = (1..=1_000).filter(|_| growth.is_worth_asking(1)).count();
        assert_eq!(due_count, 5, "at 50, 100, 200, 400 and 800");
        assert!(growth.is_worth_asking(MANY));
        assert!(!growth.is_worth_asking(MANY - 1));
        assert!(growth.clone().is_worth_asking(600), "clones count together");
        assert!(!growth.is_worth_asking(0));
    }
}
