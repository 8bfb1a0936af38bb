//! Limits on the work of a statement, kept per thread.
//!
//! SQLite calls a progress handler every [`STEPS`] steps (see [`crate::connection::planner_settings`]) on the
//! thread that runs the statement. Therefore the limit belongs to the thread. Statements without a limit run
//! to their end.

use std::cell::Cell;
use std::time::Instant;

use candor_port_storage::error::Read;

/// Number of steps of a statement's program between two calls of the progress handler: about 0.1 ms.
pub(crate) const STEPS: i32 = 4096;

/// Limit that interrupts a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    /// Number of progress calls.
    Looks(u32),
    /// Deadline on the monotonic clock.
    Until(Instant),
}

thread_local! {
    static LIMIT: Cell<Option<Limit>> = const { Cell::new(None) };
}

/// Guard that restores the previous limit, even if a read panics.
struct LimitGuard(Option<Limit>);

impl Drop for LimitGuard {
    fn drop(&mut self) {
        LIMIT.set(self.0);
    }
}

/// Returns `true` if the statement on this thread is to be interrupted. Every call counts against
/// [`Limit::Looks`].
pub(crate) fn is_over() -> bool {
    // The thread-local is already destroyed on a thread that is ending.
    let look = || match LIMIT.get()? {
        Limit::Looks(left) => {
            LIMIT.set(Some(Limit::Looks(left.saturating_sub(1))));
            Some(left == 0)
        }
        Limit::Until(end) => Some(Instant::now() >= end),
    };
    LIMIT.try_with(|_| look()).ok().flatten().unwrap_or_default()
}

/// Reads within a limit. Returns `None` if the limit interrupted the read.
pub(crate) fn run_within<T>(limit: Limit, read: impl FnOnce() -> Read<T>) -> Option<Read<T>> {
    let _limit_guard = LimitGuard(LIMIT.replace(Some(limit)));
    match read() {
        Err(_) if is_over() => None,
        found => Some(found),
    }
}

/// Runs work without a limit, because it must not be interrupted half-way.
pub(crate) fn run_unlimited<T>(work: impl FnOnce() -> T) -> T {
    let _limit_guard = LimitGuard(LIMIT.replace(None));
    work()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::open::{DatabaseLocation, Source};
    use crate::sql::{Db, Sql};
    use candor_port_storage::error::StorageError;

    const ENDLESS: &str =
        "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";

    fn reader() -> Db {
        Source::new(&DatabaseLocation::Memory).unwrap().reader().unwrap()
    }

    #[test]
    fn statement_ends_at_its_limit_and_the_connection_stays_usable() {
        let mut db = reader();
        for limit in [Limit::Looks(3), Limit::Until(Instant::now())] {
            assert!(run_within(limit, || db.number(Sql::new(ENDLESS))).is_none(), "{limit:?}");
            assert_eq!(db.number(Sql::new("SELECT 1")).unwrap(), 1);
        }
    }

    #[test]
    fn read_transaction_ends_after_an_interrupted_statement() {
        let mut db = reader();
        // Enough rounds for the progress handler to be called inside `BEGIN` and `COMMIT`, too.
        for _ in 0..3_000 {
            let read = || db.moment()?.0.number(Sql::new(ENDLESS));
            assert!(run_within(Limit::Until(Instant::now()), read).is_none());
        }
        assert_eq!(db.moment().unwrap().0.number(Sql::new("SELECT 1")).unwrap(), 1);
    }

    #[test]
    fn statement_within_its_limit_returns_result_or_failure() {
        let mut db = reader();
        assert!(matches!(run_within(Limit::Looks(3), || db.number(Sql::new("SELECT 1"))), Some(Ok(1))));
        let wrong = run_within(Limit::Looks(3), || db.number(Sql::new("SELECT nothing")));
        assert!(matches!(wrong, Some(Err(StorageError::Failed(_)))), "{wrong:?}");
    }
}
