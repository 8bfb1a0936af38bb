//! Statements that hold together or not at all, sent at once on a connection of their own.

use std::future::Future;
use std::ops::Range;
use std::time::Duration;

use candor_port_storage::flat::Fetch;
use candor_port_storage::store::StorageError;
use diesel_async::AsyncPgConnection;
use futures_util::future::join_all;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

use crate::failure::Failure;
use crate::pool::{Held, Pool};
use crate::session::run;
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

/// Sends all statements at once, in their order, and looks at every answer: the COMMIT behind a failed statement is a
/// silent ROLLBACK. All of them go through the connection's statement cache, whose queue keeps the order.
async fn fly<T>(
    connection: &AsyncPgConnection,
    flight: &Flight,
    read: &(impl Fn(&mut dyn Fetch) -> Result<T, Failure> + Send + Sync),
) -> Landing<T> {
    let sent = flight.statements.iter().enumerate().map(|(place, sql)| {
        let wanted = flight.answering.contains(&place);
        run(connection, sql, move |row| if wanted { read(row).map(Some) } else { Ok(None) })
    });
    let answers = join_all(sent).await;
    // With one statement, its own failure undoes it; else the last one ends the transaction either way.
    let ended = flight.statements.len() == 1 || answers.last().is_some_and(Result::is_ok);
    match answers.into_iter().collect::<Result<Vec<_>, _>>() {
        Ok(answers) => Landing::Done(answers.into_iter().flatten().flatten().collect()),
        Err(Failure::Lost(text)) => Landing::Unknown(Failure::Lost(text)),
        Err(failure) if ended => Landing::Undone(failure),
        Err(failure) => Landing::Unknown(failure),
    }
}
