//! Saving a change set: one statement, or one flight of statements, that holds whole or not at all.

mod closure;
mod group;
mod learn;
mod requires;
mod statement;
mod webhooks;

use std::time::{Duration, Instant};

use candor_domain::access::Tenant;
use candor_port_storage::change::{ChangeSet, CommitError, Committed, Require};
use candor_port_storage::store::StorageError;
use diesel_async::AsyncPgConnection;
use futures_util::future::join_all;
use metrics::histogram;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

use crate::failure::Failure;
use crate::pool::{Held, Pool};
use crate::session::run;
use crate::sql::Sql;

/// How often a change set is tried when transactions get in each other's way.
const TRIES: u32 = 4;
/// A pause before trying again, longer every time, so that the others get done.
const PAUSE: Duration = Duration::from_millis(5);
/// A flight that takes longer is given up, and so is its connection: the server's own limits should have ended it.
const PATIENCE: Duration = Duration::from_secs(45);

/// Saves change sets.
#[derive(Clone)]
pub(crate) struct Committer {
    pool: Pool,
    home: Handle,
}

impl Committer {
    /// Saves through connections of a pool, in tasks on the runtime where those live.
    pub(crate) const fn new(pool: Pool, home: Handle) -> Self {
        Self { pool, home }
    }

    /// Saves a change set, in a task of its own: a caller who goes away does not stop it half-way.
    pub(crate) async fn commit(&self, tenant: Tenant, change: ChangeSet) -> Result<Committed, CommitError> {
        let pool = self.pool.clone();
        let task = self.home.spawn(async move {
            let begun = Instant::now();
            let saved = save(&pool, &statement::flight(tenant, &change)).await;
            histogram!("candor_store_commit_seconds", "store" => "postgres").record(begun.elapsed().as_secs_f64());
            if saved.is_ok() && statement::count_lines(&change) >= learn::MANY {
                learn::sizes(&pool).await;
            }
            saved.map(|()| Committed::default()).map_err(|it| answer(it, &change.requires))
        });
        match task.await {
            Ok(saved) => saved,
            Err(stopped) if stopped.is_cancelled() => {
                Err(StorageError::Unavailable("the service is stopping".to_owned()).into())
            }
            Err(stopped) => Err(StorageError::Failed(stopped.to_string()).into()),
        }
    }
}

/// What the words of our checks mean.
fn answer(failure: Failure, requires: &[Require]) -> CommitError {
    let Failure::Check(word) = failure else { return failure.into_commit() };
    let broken = word.strip_prefix(requires::WORD).and_then(|it| it.parse::<usize>().ok());
    match (word.as_str(), broken.and_then(|it| requires.get(it))) {
        (statement::STALE, _) => CommitError::Stale,
        (statement::REPLAYED, _) => CommitError::Replayed,
        (_, Some(require)) => CommitError::Broken(*require),
        (_, None) => Failure::Check(word).into_commit(),
    }
}

async fn save(pool: &Pool, flight: &[Sql]) -> Result<(), Failure> {
    let mut tried = 1;
    loop {
        let held = Held::new(pool.get().await?);
        match timeout(PATIENCE, fly(held.get()?, flight)).await {
            Ok(Landing::Done) => {
                held.give_back();
                return Ok(());
            }
            Ok(Landing::Undone(Failure::Collided(text))) if tried < TRIES => {
                held.give_back();
                tracing::debug!(reason = text, tried, "transactions collided; trying again");
                sleep(PAUSE * tried).await;
                tried += 1;
            }
            Ok(Landing::Undone(failure)) => {
                held.give_back();
                return Err(failure);
            }
            Ok(Landing::Unknown(failure)) => return Err(failure),
            Err(_) => return Err(Failure::Busy("the change was not saved in time".to_owned())),
        }
    }
}

/// How a flight ended.
enum Landing {
    /// It holds.
    Done,
    /// Nothing of it holds, and the connection is in order.
    Undone(Failure),
    /// The connection is not in order.
    Unknown(Failure),
}

/// Sends all statements at once, in their order, and looks at every answer: the COMMIT behind a failed statement is a
/// silent ROLLBACK. All of them go through the connection's statement cache, whose queue keeps the order.
async fn fly(connection: &AsyncPgConnection, flight: &[Sql]) -> Landing {
    let answers = join_all(flight.iter().map(|sql| run(connection, sql, |_| Ok(())))).await;
    // With one statement, its own failure undoes it; else the last one ends the transaction either way.
    let ended = flight.len() == 1 || answers.last().is_some_and(Result::is_ok);
    match answers.into_iter().find_map(Result::err) {
        None => Landing::Done,
        Some(Failure::Lost(text)) => Landing::Unknown(Failure::Lost(text)),
        Some(failure) if ended => Landing::Undone(failure),
        Some(failure) => Landing::Unknown(failure),
    }
}
