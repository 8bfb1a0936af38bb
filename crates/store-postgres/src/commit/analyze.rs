//! Tells the server about tables that have just begun to grow.
//!
//! Until it has statistics, it takes every index that begins with the tenant for as good as any other, and keeps such
//! plans: a look-up by id then reads everybody, and so does every check of a foreign key. It looks by itself only once a
//! minute, and in that time thousands of people may be brought in, and invited.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::connection::pool::Held;
use crate::connection::session::run;
use crate::failure::Failure;
use crate::nodes::Nodes;
use crate::sql::Sql;

/// Rows from which on it is worth asking.
const MANY: usize = 50;

/// Tables over one page with fewer than 100 estimated rows, which were probably never analyzed.
const UNKNOWN: &str = "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace \
    AND relkind = 'r' AND reltuples < 100 AND pg_relation_size(oid) > 8192";

/// How much this process has written. Clones count together.
#[derive(Clone, Default)]
pub(super) struct AnalyzeTrigger(Arc<AtomicUsize>);

impl AnalyzeTrigger {
    /// Counts rows that were written together, and has the server look at the tables that it does not know: whenever these are
    /// many, and whenever there are twice as many as before. What fails here changes nothing but the speed.
    pub(super) async fn record_writes(&self, rows: usize, nodes: &Nodes) {
        if !self.is_worth_asking(rows) {
            return;
        }
        let Ok(held) = nodes.connection(None).await.map(Held::new) else { return };
        match analyze_stale_tables(&held).await {
            Ok(()) => held.give_back(),
            Err(failure) => tracing::debug!(reason = failure.text(), "the server did not look at its tables"),
        }
    }

    fn is_worth_asking(&self, rows: usize) -> bool {
        let before = self.0.fetch_add(rows, Ordering::Relaxed);
        let doublings = |rows: usize| (rows / MANY).checked_ilog2();
        rows >= MANY || doublings(before) != doublings(before.saturating_add(rows))
    }
}

async fn analyze_stale_tables(held: &Held) -> Result<(), Failure> {
    let connection = held.get()?;
    let unknown = run(connection, &Sql::plain(UNKNOWN), |row| row.text().map_err(Failure::Other)).await?;
    let tables = unknown.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if !tables.is_empty() {
        // Whoever vacuums one just now looks at it too, or will.
        run(connection, &Sql::plain(&format!("ANALYZE (SKIP_LOCKED) {tables}")), |_| Ok(())).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_asked_when_there_is_twice_as_much_and_for_each_large_change_set() {
        let growth = AnalyzeTrigger::default();
        let asked = (1..=1_000).filter(|_| growth.is_worth_asking(1)).count();
        assert_eq!(asked, 5, "at 50, 100, 200, 400 and 800");
        assert!(growth.is_worth_asking(MANY));
        assert!(!growth.is_worth_asking(MANY - 1));
        assert!(growth.clone().is_worth_asking(600), "clones count together");
        assert!(!growth.is_worth_asking(0));
    }
}
