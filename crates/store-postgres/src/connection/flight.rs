//! Statements that hold together or not at all, sent at once on a connection of their own.

use std::future::Future;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use candor_port_storage::flat::Fetch;
use candor_port_storage::store::StorageError;
use diesel_async::AsyncPgConnection;
use futures_util::future::{join, join_all};
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

use crate::connection::pool::{Held, Pool};
use crate::connection::session::run;
use crate::failure::Failure;
use crate::sql::Sql;

/// How often a flight is tried when transactions get in each other's way.
const TRIES: u32 = 4;
/// A pause before trying again, longer every time, so that the others get done.
const PAUSE: Duration = Duration::from_millis(5);
/// A flight that takes longer is given up, and so is its connection: the server's own limits should have ended it.
const PATIENCE: Duration = Duration::from_secs(45);

/// Statements on their way to the server.
pub(crate) struct Flight {
    statements: Vec<Sql>,
    /// The places of those whose rows are the answer.
    answering: Range<usize>,
}

impl Flight {
    /// One statement, which is a transaction by itself.
    pub(crate) fn alone(statement: Sql) -> Self {
        Self { statements: vec![statement], answering: 0..1 }
    }

    /// A transaction of several statements; the rows of the one at this place are the answer.
    pub(crate) fn transaction(statements: Vec<Sql>, answering: usize) -> Self {
        let mut all = vec![Sql::plain("BEGIN")];
        all.extend(statements);
        all.push(Sql::plain("COMMIT"));
        Self { statements: all, answering: answering + 1..answering + 2 }
    }

    /// Statements that all answer, and of which none has to see what another one did.
    pub(crate) fn of_all(mut statements: Vec<Sql>) -> Self {
        match (statements.pop(), statements.len()) {
            (Some(only), 0) => Self::alone(only),
            (last, before) => {
                statements.extend(last);
                Self { answering: 1..before + 2, ..Self::transaction(statements, 0) }
            }
        }
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

/// Sends a flight and reads its answer; again, when it collided with other transactions.
pub(crate) async fn send<T>(
    pool: &Pool,
    flight: &Flight,
    read: impl Fn(&mut dyn Fetch) -> Result<T, Failure> + Send + Sync,
) -> Result<Vec<T>, Failure> {
    let mut tried = 1;
    loop {
        match send_once(pool, flight, &read).await {
            Landing::Done(rows) => return Ok(rows),
            Landing::Undone(Failure::Collided(text)) if tried < TRIES => {
                tracing::debug!(reason = text, tried, "transactions collided; trying again");
                sleep(PAUSE * tried).await;
                tried += 1;
            }
            Landing::Undone(failure) | Landing::Unknown(failure) => return Err(failure),
        }
    }
}

/// Sends a flight once.
pub(crate) async fn send_once<T>(
    pool: &Pool,
    flight: &Flight,
    read: impl Fn(&mut dyn Fetch) -> Result<T, Failure> + Send + Sync,
) -> Landing<T> {
    let held = match pool.get().await {
        Ok(it) => Held::new(it),
        Err(failure) => return Landing::Unknown(failure),
    };
    let flown = match held.get() {
        Ok(connection) => timeout(PATIENCE, fly(connection, flight, &read)).await,
        Err(failure) => return Landing::Unknown(failure),
    };
    let late = |_| Landing::Unknown(Failure::Busy("the transaction was not done in time".to_owned()));
    let landing = flown.unwrap_or_else(late);
    if !matches!(landing, Landing::Unknown(_)) {
        held.give_back();
    }
    landing
}

/// How a flight ended.
pub(crate) enum Landing<T> {
    /// It holds; these are the rows.
    Done(Vec<T>),
    /// Nothing of it holds, and the connection is in order.
    Undone(Failure),
    /// There is no connection, or it is not in order; whether the flight holds is not known.
    Unknown(Failure),
}

/// Sends all statements at once, in their order, and looks at every answer: the COMMIT behind a statement that failed in
/// the server is a silent ROLLBACK. All of them go through the connection's statement cache, whose queue keeps the order.
///
/// Of a statement that could not be sent the server knows nothing. It is found out before the last one is sent, which then
/// is a ROLLBACK; and where an answer could not be read, nobody says that nothing holds.
async fn fly<T>(
    connection: &AsyncPgConnection,
    flight: &Flight,
    read: &(impl Fn(&mut dyn Fetch) -> Result<T, Failure> + Send + Sync),
) -> Landing<T> {
    let Some((last, before)) = flight.statements.split_last() else { return Landing::Done(vec![]) };
    let (is_unsent, is_unread) = (AtomicBool::new(false), AtomicBool::new(false));
    let (is_unsent, is_unread) = (&is_unsent, &is_unread);
    let send = |place: usize, sql| {
        let wanted = flight.answering.contains(&place);
        let read = move |row: &mut dyn Fetch| {
            let read = if wanted { read(row).map(Some) } else { Ok(None) };
            read.inspect_err(|_| is_unread.store(true, Ordering::Relaxed))
        };
        async move { run(connection, sql, read).await.inspect_err(|_| is_unsent.store(true, Ordering::Relaxed)) }
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
    let ended = flight.statements.len() == 1 || answers.last().is_some_and(Result::is_ok);
    match answers.into_iter().collect::<Result<Vec<_>, _>>() {
        Ok(answers) => Landing::Done(answers.into_iter().flatten().flatten().collect()),
        Err(Failure::Lost(text)) => Landing::Unknown(Failure::Lost(text)),
        Err(failure) if ended && !is_unread.load(Ordering::Relaxed) => Landing::Undone(failure),
        Err(failure) => Landing::Unknown(failure),
    }
}

#[cfg(test)]
mod tests {
    use candor_test_postgres::TestDatabase;

    use super::*;
    use crate::connection::session::Session;

    async fn pool(database: &TestDatabase) -> Pool {
        let session = Session::new(database.url(), "candor").unwrap();
        let pool = Pool::new("test", &session, 1).unwrap();
        let made = Flight::alone(Sql::plain("CREATE TABLE t (a bigint)"));
        assert!(matches!(send_once(&pool, &made, int).await, Landing::Done(_)));
        pool
    }

    fn int(row: &mut dyn Fetch) -> Result<i64, Failure> {
        row.int().map(Option::unwrap_or_default).map_err(Failure::Other)
    }

    async fn rows(pool: &Pool) -> i64 {
        let count = Flight::alone(Sql::plain("SELECT count(*) FROM t"));
        let Landing::Done(rows) = send_once(pool, &count, int).await else { panic!("no count") };
        rows[0]
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nothing_holds_of_a_transaction_with_a_statement_that_could_not_be_sent() {
        let Some(database) = TestDatabase::empty().unwrap() else { return };
        let pool = pool(&database).await;
        // More than futures are awaited in one piece.
        for many in [1, 50] {
            let insert = || Sql::plain("INSERT INTO t VALUES (1)");
            let mut statements: Vec<_> = (0..many).map(|_| insert()).collect();
            statements.extend([Sql::unsendable(), insert()]);
            let landing = send_once(&pool, &Flight::transaction(statements, 0), int).await;
            assert!(matches!(landing, Landing::Undone(Failure::Other(_))), "{many} before it");
            assert_eq!(rows(&pool).await, 0, "{many} before it");
        }
        let whole = Flight::transaction(vec![Sql::plain("INSERT INTO t VALUES (1)")], 0);
        assert!(matches!(send_once(&pool, &whole, int).await, Landing::Done(_)));
        assert_eq!(rows(&pool).await, 1);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nobody_says_that_a_transaction_is_undone_whose_answer_could_not_be_read() {
        let Some(database) = TestDatabase::empty().unwrap() else { return };
        let pool = pool(&database).await;
        let flight = Flight::transaction(vec![Sql::plain("INSERT INTO t VALUES (1) RETURNING a")], 0);
        let landing = send_once(&pool, &flight, |_| Err::<i64, _>(Failure::Other("unreadable".to_owned()))).await;
        assert!(matches!(landing, Landing::Unknown(Failure::Other(_))));
        assert_eq!(rows(&pool).await, 1, "it holds");
    }
}
