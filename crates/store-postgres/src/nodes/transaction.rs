//! Statements that hold together or not at all, sent at once on a connection of their own.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use candor_domain::access::Tenant;
use candor_port_storage::StorageError;
use candor_tables::flat::Fetch;
use diesel_async::AsyncPgConnection;
use futures_util::future::{join, join_all};
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

use crate::connection::pool::Held;
use crate::connection::rows::{RawRow, values};
use crate::connection::session::run_raw;
use crate::failure::Failure;
use crate::nodes::Nodes;
use crate::sql::Sql;
use crate::sql::planner_settings::STEER;

/// How often a transaction is tried when transactions get in each other's way.
const TRIES: u32 = 4;
/// A pause before trying again, longer every time, so that the others get done.
const PAUSE: Duration = Duration::from_millis(5);
/// A transaction that takes longer is given up, and so is its connection: the server's own limits should have ended it.
const PATIENCE: Duration = Duration::from_secs(45);

/// Statements on their way to the server.
pub(crate) struct Transaction {
    statements: Vec<Sql>,
    /// The places of those whose rows are the answer.
    answering: Vec<usize>,
}

impl Transaction {
    /// One statement, which is a transaction by itself.
    pub(crate) fn alone(statement: Sql) -> Self {
        Self { statements: vec![statement], answering: vec![0] }
    }

    /// A transaction of several statements; the rows of the one at this place are the answer.
    pub(crate) fn of(statements: Vec<Sql>, answering: usize) -> Self {
        let mut all = vec![Sql::plain("BEGIN")];
        all.extend(statements);
        all.push(Sql::plain("COMMIT"));
        Self { statements: all, answering: vec![answering + 1] }
    }

    /// A transaction of statements, each with whether its rows belong to the answer. Those of one alone do.
    pub(crate) fn of_some(mut statements: Vec<(Sql, bool)>) -> Self {
        if statements.len() == 1 {
            let only = statements.remove(0).0;
            return Self::alone(only);
        }
        let answering = (1..).zip(&statements).filter(|(_, (_, answers))| *answers).map(|(place, _)| place).collect();
        Self { answering, ..Self::of(statements.into_iter().map(|(it, _)| it).collect(), 0) }
    }

    /// Creates a transaction whose statements are planned for a long queue. The rows of the last one are the answer.
    pub(crate) fn steered(statements: Vec<Sql>) -> Self {
        let last = statements.len();
        let mut all = vec![Sql::plain(STEER)];
        all.extend(statements);
        Self::of(all, last)
    }

    /// Creates a transaction of statements, each with whether its rows belong to the answer, under some settings.
    pub(crate) fn with_settings(settings: &[&str], statements: Vec<(Sql, bool)>) -> Self {
        let settings = settings.iter().map(|setting| (Sql::plain(setting), false));
        Self::of_some(settings.chain(statements).collect())
    }

    /// Whose rows it is about, if these are one tenant's.
    fn tenant(&self) -> Option<Tenant> {
        self.statements.iter().find_map(Sql::of)
    }
}

/// Carries work out in a task on the runtime where connections live: a caller who goes away does not stop it half-way.
pub(crate) async fn carried_out<T, E>(
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

/// Sends a transaction and reads its answer; again, when it collided with other transactions.
pub(crate) async fn send<T>(
    nodes: &Nodes,
    transaction: &Transaction,
    read: impl Fn(&mut dyn Fetch) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    values(send_raw(nodes, transaction).await?, read)
}

/// The same, with the rows of the answer as they are.
pub(crate) async fn send_raw(nodes: &Nodes, transaction: &Transaction) -> Result<Vec<RawRow>, Failure> {
    let mut tried = 1;
    loop {
        match try_once(nodes, transaction).await {
            TransactionOutcome::Done(rows) => return Ok(rows),
            TransactionOutcome::Undone(Failure::Collided(text)) if tried < TRIES => {
                tracing::debug!(reason = text, tried, "transactions collided; trying again");
                sleep(PAUSE * tried).await;
                tried += 1;
            }
            TransactionOutcome::Undone(failure) | TransactionOutcome::Unknown(failure) => return Err(failure),
        }
    }
}

/// Sends a transaction once. Where its answer cannot be read, nobody says that nothing holds.
pub(crate) async fn send_once<T>(
    nodes: &Nodes,
    transaction: &Transaction,
    read: impl Fn(&mut dyn Fetch) -> Result<T, Failure>,
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
    let held = match nodes.connection(transaction.tenant()).await {
        Ok(it) => Held::new(it),
        Err(failure) => return TransactionOutcome::Unknown(failure),
    };
    let sent = match held.get() {
        Ok(connection) => timeout(PATIENCE, send_all(connection, transaction)).await,
        Err(failure) => return TransactionOutcome::Unknown(failure),
    };
    let late = |_| TransactionOutcome::Unknown(Failure::Busy("the transaction was not done in time".to_owned()));
    let outcome = sent.unwrap_or_else(late);
    if !matches!(outcome, TransactionOutcome::Unknown(_)) {
        held.give_back();
    }
    outcome
}

/// How a transaction ended.
pub(crate) enum TransactionOutcome<T> {
    /// It holds; these are the rows.
    Done(Vec<T>),
    /// Nothing of it holds, and the connection is in order.
    Undone(Failure),
    /// There is no connection, or it is not in order; whether the transaction holds is not known.
    Unknown(Failure),
}

/// Sends all statements at once, in their order, and looks at every answer: the COMMIT behind a statement that failed in
/// the server is a silent ROLLBACK. All of them go through the connection's statement cache, whose queue keeps the order.
///
/// Of a statement that could not be sent the server knows nothing. It is found out before the last one is sent, which then
/// is a ROLLBACK.
async fn send_all(connection: &AsyncPgConnection, transaction: &Transaction) -> TransactionOutcome<RawRow> {
    let Some((last, before)) = transaction.statements.split_last() else { return TransactionOutcome::Done(vec![]) };
    let is_unsent = &AtomicBool::new(false);
    let send = |place: usize, sql| {
        let wanted = transaction.answering.contains(&place);
        async move { run_raw(connection, sql, wanted).await.inspect_err(|_| is_unsent.store(true, Ordering::Relaxed)) }
    };
    let sent = join_all(before.iter().enumerate().map(|(place, sql)| send(place, sql)));
    let undo = Sql::plain("ROLLBACK");
    let end = async {
        let is_undone = is_unsent.load(Ordering::Relaxed) && !before.is_empty();
        send(before.len(), if is_undone { &undo } else { last }).await
    };
    // Each of those before was begun when the last one is.
    let (mut answers, ended) = join(sent, end).await;
    answers.push(ended);
    // With one statement, its own failure undoes it; else the last one ends the transaction either way.
    let ended = transaction.statements.len() == 1 || answers.last().is_some_and(Result::is_ok);
    match answers.into_iter().collect::<Result<Vec<_>, _>>() {
        Ok(answers) => TransactionOutcome::Done(answers.into_iter().flatten().collect()),
        Err(Failure::Lost(text)) => TransactionOutcome::Unknown(Failure::Lost(text)),
        Err(failure) if ended => TransactionOutcome::Undone(failure),
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
        let server = Nodes::alone(Connections::new(&session, sizes).unwrap());
        let made = Transaction::alone(Sql::plain("CREATE TABLE t (a bigint)"));
        assert!(matches!(send_once(&server, &made, int).await, TransactionOutcome::Done(_)));
        server
    }

    fn int(row: &mut dyn Fetch) -> Result<i64, Failure> {
        row.int().map(Option::unwrap_or_default).map_err(Failure::Other)
    }

    async fn rows(server: &Nodes) -> i64 {
        let count = Transaction::alone(Sql::plain("SELECT count(*) FROM t"));
        let TransactionOutcome::Done(rows) = send_once(server, &count, int).await else { panic!("no count") };
        rows[0]
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nothing_holds_of_a_transaction_with_a_statement_that_could_not_be_sent() {
        let Some(database) = TestDatabase::empty().unwrap() else { return };
        let server = server(&database).await;
        // More than futures are awaited in one piece.
        for many in [1, 50] {
            let insert = || Sql::plain("INSERT INTO t VALUES (1)");
            let mut statements: Vec<_> = (0..many).map(|_| insert()).collect();
            statements.extend([Sql::unsendable(), insert()]);
            let outcome = send_once(&server, &Transaction::of(statements, 0), int).await;
            assert!(matches!(outcome, TransactionOutcome::Undone(Failure::Other(_))), "{many} before it");
            assert_eq!(rows(&server).await, 0, "{many} before it");
        }
        let whole = Transaction::of(vec![Sql::plain("INSERT INTO t VALUES (1)")], 0);
        assert!(matches!(send_once(&server, &whole, int).await, TransactionOutcome::Done(_)));
        assert_eq!(rows(&server).await, 1);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nobody_says_that_a_transaction_is_undone_whose_answer_could_not_be_read() {
        let Some(database) = TestDatabase::empty().unwrap() else { return };
        let server = server(&database).await;
        let transaction = Transaction::of(vec![Sql::plain("INSERT INTO t VALUES (1) RETURNING a")], 0);
        let outcome =
            send_once(&server, &transaction, |_| Err::<i64, _>(Failure::Other("unreadable".to_owned()))).await;
        assert!(matches!(outcome, TransactionOutcome::Unknown(Failure::Other(_))));
        assert_eq!(rows(&server).await, 1, "it holds");
    }
}
