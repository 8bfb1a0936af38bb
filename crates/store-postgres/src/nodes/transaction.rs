//! Transactions: statements that are committed together or not at all, pipelined on an exclusive connection.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use candor_domain::access::Tenant;
use candor_port_storage::StorageError;
use candor_tables::flat::CellReader;
use diesel_async::AsyncPgConnection;
use futures_util::future::{join, join_all};
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

use crate::connection::rows::{RawRow, values};
use crate::connection::session::run_raw;
use crate::failure::Failure;
use crate::nodes::Nodes;
use crate::sql::Sql;
use crate::sql::planner_settings::STEER;

/// Maximum number of attempts for a transaction that collides with other transactions.
const TRIES: u32 = 4;
/// Pause before the second attempt. Each later pause is longer by the same time, so that the other transactions
/// can finish.
const PAUSE: Duration = Duration::from_millis(5);
/// Time limit for a transaction, after which the connection is closed. The server's timeouts should end the
/// transaction earlier.
const PATIENCE: Duration = Duration::from_secs(45);

/// Statements to send as one transaction.
pub(crate) struct Transaction {
    statements: Vec<Sql>,
    /// Indexes of the statements whose rows are the result.
    answering: Vec<usize>,
}

impl Transaction {
    /// Creates a transaction of one statement, which needs no `BEGIN`.
    pub(crate) fn single_statement(statement: Sql) -> Self {
        Self { statements: vec![statement], answering: vec![0] }
    }

    /// Creates a transaction of several statements. The rows of the statement at `answering` are the result.
    pub(crate) fn new(statements: Vec<Sql>, answering: usize) -> Self {
        let mut all = vec![Sql::plain("BEGIN")];
        all.extend(statements);
        all.push(Sql::plain("COMMIT"));
        Self { statements: all, answering: vec![answering + 1] }
    }

    /// Creates a transaction of statements, each with a flag that is `true` if its rows belong to the result. The
    /// rows of a single statement always do.
    pub(crate) fn from_marked(mut statements: Vec<(Sql, bool)>) -> Self {
        if statements.len() == 1 {
            let only = statements.remove(0).0;
            return Self::single_statement(only);
        }
        let answering =
            (1..).zip(&statements).filter(|(_, (_, answers))| *answers).map(|(place, _)| place).collect();
        Self { answering, ..Self::new(statements.into_iter().map(|(statement, _)| statement).collect(), 0) }
    }

    /// Creates a transaction that restricts the planner to index plans, which stay fast when a queue becomes long.
    /// The rows of the last statement are the result.
    pub(crate) fn with_index_plans(statements: Vec<Sql>) -> Self {
        let last = statements.len();
        let mut all = vec![Sql::plain(STEER)];
        all.extend(statements);
        Self::new(all, last)
    }

    /// Creates a transaction of statements under some settings. Each statement has a flag that is `true` if its
    /// rows belong to the result.
    pub(crate) fn with_settings(settings: &[&str], statements: Vec<(Sql, bool)>) -> Self {
        let settings = settings.iter().map(|setting| (Sql::plain(setting), false));
        Self::from_marked(settings.chain(statements).collect())
    }

    /// Returns the tenants whose rows the transaction touches. Cross-tenant statements have none.
    fn tenants(&self) -> Vec<Tenant> {
        self.statements.iter().filter_map(Sql::owner).collect()
    }
}

/// Runs work in a task on the runtime of the connections, so that a caller that goes away cannot interrupt it.
pub(crate) async fn run_to_completion<T, E>(
    home: &Handle,
    work: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<StorageError> + Send + 'static,
{
    match home.spawn(work).await {
        Ok(done) => done,
        Err(stopped) if stopped.is_cancelled() => {
            Err(StorageError::Unavailable("the service is stopping".to_owned()).into())
        }
        Err(stopped) => Err(StorageError::Failed(stopped.to_string()).into()),
    }
}

/// Sends a transaction and reads its result. Retries after collisions with other transactions.
pub(crate) async fn send<T>(
    nodes: &Nodes,
    transaction: &Transaction,
    read: impl Fn(&mut dyn CellReader) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    values(send_raw(nodes, transaction).await?, read)
}

/// Sends a transaction and returns the raw rows of its result. Retries after collisions with other transactions.
pub(crate) async fn send_raw(nodes: &Nodes, transaction: &Transaction) -> Result<Vec<RawRow>, Failure> {
    let mut attempt = 1;
    loop {
        match try_once(nodes, transaction).await {
            TransactionOutcome::Done(rows) => return Ok(rows),
            TransactionOutcome::Undone(Failure::Collided(text)) if attempt < TRIES => {
                tracing::debug!(reason = text, attempt, "transactions collided; trying again");
                sleep(PAUSE * attempt).await;
                attempt += 1;
            }
            TransactionOutcome::Undone(failure) | TransactionOutcome::Unknown(failure) => return Err(failure),
        }
    }
}

/// Sends a transaction once. If its result cannot be read, the outcome is unknown: the transaction may be
/// committed.
pub(crate) async fn send_once<T>(
    nodes: &Nodes,
    transaction: &Transaction,
    read: impl Fn(&mut dyn CellReader) -> Result<T, Failure>,
) -> TransactionOutcome<T> {
    match try_once(nodes, transaction).await {
        TransactionOutcome::Done(rows) => {
            values(rows, read).map_or_else(TransactionOutcome::Unknown, TransactionOutcome::Done)
        }
        TransactionOutcome::Undone(failure) => TransactionOutcome::Undone(failure),
        TransactionOutcome::Unknown(failure) => TransactionOutcome::Unknown(failure),
    }
}

async fn try_once(nodes: &Nodes, transaction: &Transaction) -> TransactionOutcome<RawRow> {
    let pooled_connection = match nodes.connection(&transaction.tenants()).await {
        Ok(it) => it,
        Err(failure) => return TransactionOutcome::Unknown(failure),
    };
    let send_result = match pooled_connection.get() {
        Ok(connection) => timeout(PATIENCE, send_all(connection, transaction)).await,
        Err(failure) => return TransactionOutcome::Unknown(failure),
    };
    let late = |_| TransactionOutcome::Unknown(Failure::Busy("the transaction did not end in time".to_owned()));
    let outcome = send_result.unwrap_or_else(late);
    if !matches!(outcome, TransactionOutcome::Unknown(_)) {
        pooled_connection.give_back();
    }
    outcome
}

/// Outcome of a transaction.
pub(crate) enum TransactionOutcome<T> {
    /// Committed; holds the rows of the result.
    Done(Vec<T>),
    /// Rolled back, and the connection is reusable.
    Undone(Failure),
    /// Failed without a known result: no connection, a timeout, a lost connection, or an unreadable result. The
    /// transaction may be committed.
    Unknown(Failure),
}

/// Pipelines all statements in their order, and checks every response: a `COMMIT` after a failed statement is a
/// silent `ROLLBACK`. All statements pass the statement cache of the connection, which keeps their order.
///
/// The server does not learn of a statement that could not be sent. Such a failure is detected before the last
/// statement is sent, which is then replaced by a `ROLLBACK`.
async fn send_all(connection: &AsyncPgConnection, transaction: &Transaction) -> TransactionOutcome<RawRow> {
    let Some((last, before)) = transaction.statements.split_last() else {
        return TransactionOutcome::Done(vec![]);
    };
    let is_unsent = &AtomicBool::new(false);
    let send = |place: usize, sql| {
        let is_result_wanted = transaction.answering.contains(&place);
        async move {
            run_raw(connection, sql, is_result_wanted)
                .await
                .inspect_err(|_| is_unsent.store(true, Ordering::Relaxed))
        }
    };
    let sends = join_all(before.iter().enumerate().map(|(place, sql)| send(place, sql)));
    let undo = Sql::plain("ROLLBACK");
    let end = async {
        let is_undone = is_unsent.load(Ordering::Relaxed) && !before.is_empty();
        send(before.len(), if is_undone { &undo } else { last }).await
    };
    // `join` polls in order: all earlier statements are started before the last one.
    let (mut results, ended) = join(sends, end).await;
    results.push(ended);
    // A failed single statement rolls itself back. Otherwise the last statement ends the transaction.
    let is_complete = transaction.statements.len() == 1 || results.last().is_some_and(Result::is_ok);
    match results.into_iter().collect::<Result<Vec<_>, _>>() {
        Ok(rows) => TransactionOutcome::Done(rows.into_iter().flatten().collect()),
        Err(Failure::Lost(text)) => TransactionOutcome::Unknown(Failure::Lost(text)),
        Err(failure) if is_complete => TransactionOutcome::Undone(failure),
        Err(failure) => TransactionOutcome::Unknown(failure),
    }
}

#[cfg(test)]
mod tests {
    use candor_test_postgres::TestDatabase;

    use candor_fair_share::SlowReads;

    use super::*;
    use crate::connection::session::Session;
    use crate::nodes::{Connections, Sizes};

    async fn server(database: &TestDatabase) -> Nodes {
        let session = Session::new(database.url(), "candor").unwrap();
        let sizes = Sizes { shared: 1, pooled: 1, slow: SlowReads::with_places(1) };
        let server = Nodes::single_server(Connections::new(&session, sizes).unwrap());
        let creation = Transaction::single_statement(Sql::plain("CREATE TABLE t (a bigint)"));
        assert!(matches!(send_once(&server, &creation, int).await, TransactionOutcome::Done(_)));
        server
    }

    fn int(row: &mut dyn CellReader) -> Result<i64, Failure> {
        row.int().map(Option::unwrap_or_default).map_err(Failure::Other)
    }

    async fn rows(server: &Nodes) -> i64 {
        let count = Transaction::single_statement(Sql::plain("SELECT count(*) FROM t"));
        let TransactionOutcome::Done(rows) = send_once(server, &count, int).await else { panic!("no count") };
        rows[0]
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn transaction_with_an_unsendable_statement_has_no_effect() {
        let Some(database) = TestDatabase::empty().unwrap() else { return };
        let server = server(&database).await;
        // 50: `join_all` polls long lists in another way than short ones.
        for many in [1, 50] {
            let insert = || Sql::plain("INSERT INTO t VALUES (1)");
            let mut statements: Vec<_> = (0..many).map(|_| insert()).collect();
            statements.extend([Sql::unsendable(), insert()]);
            let outcome = send_once(&server, &Transaction::new(statements, 0), int).await;
            assert!(matches!(outcome, TransactionOutcome::Undone(Failure::Other(_))), "{many} before it");
            assert_eq!(rows(&server).await, 0, "{many} before it");
        }
        let whole = Transaction::new(vec![Sql::plain("INSERT INTO t VALUES (1)")], 0);
        assert!(matches!(send_once(&server, &whole, int).await, TransactionOutcome::Done(_)));
        assert_eq!(rows(&server).await, 1);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn transaction_with_an_unreadable_answer_has_unknown_outcome() {
        let Some(database) = TestDatabase::empty().unwrap() else { return };
        let server = server(&database).await;
        let transaction = Transaction::new(vec![Sql::plain("INSERT INTO t VALUES (1) RETURNING a")], 0);
        let outcome =
            send_once(&server, &transaction, |_| Err::<i64, _>(Failure::Other("unreadable".to_owned()))).await;
        assert!(matches!(outcome, TransactionOutcome::Unknown(Failure::Other(_))));
        assert_eq!(rows(&server).await, 1, "the row is stored");
    }
}
