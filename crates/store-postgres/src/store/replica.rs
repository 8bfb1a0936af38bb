//! Standby of the server, for reads that may be slightly stale.
//!
//! A standby shows a past state of the primary, and replays changes in commit order. So its feed has no gaps
//! either: it ends before the oldest transaction that was running in the shown state. If the standby is
//! unavailable, reads go to the primary; positions of the feed are valid on both.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use candor_tables::flat::CellReader;
use metrics::{counter, gauge};
use tokio::time::{Instant, timeout};
use tracing::Instrument;

use crate::connection::pool::Pool;
use crate::connection::rows::{RowSink, Values};
use crate::connection::session::{Session, run_into};
use crate::connection::standby::{IDENTITY, Identity, STANDING, StandbyOf, one};
use crate::failure::Failure;
use crate::migrations::newest_migration;
use crate::options::{ConnectError, PostgresOptions};
use crate::sql::Sql;
use crate::sql::row::{flag, int};
use crate::store::PostgresStore;

/// Pause after a failure of the standby; then a single read tries it again.
const PAUSE: Duration = Duration::from_secs(1);
/// Time that a read waits beyond the timeout of slow reads, at which the standby ends a statement. A standby that
/// has not answered by then counts as unavailable.
const GRACE: Duration = Duration::from_millis(250);
/// Divisor of the primary's number of connections, which gives the replica's number.
const SHARE: usize = 2;

/// Counter metric of the reads that the replica answered.
const READS: &str = "candor_store_replica_reads_total";
/// Counter metric of the reads that fell back to the primary.
const FALLBACKS: &str = "candor_store_replica_fallbacks_total";

/// A standby, with a connection pool of its own.
pub(crate) struct Replica {
    pool: Pool,
    patience: Duration,
    state: Mutex<State>,
}

/// Availability of the replica, according to the last reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// No read was tried yet.
    Unknown,
    /// The replica answered the last read.
    Up,
    /// The replica is unavailable; no read is tried before `until`.
    Down { until: Instant },
}

/// Reads a flag that is `true` if the server is a standby, and the lag of the server in seconds.
fn read_standby(row: &mut dyn CellReader) -> Result<(bool, f64), Failure> {
    let is_standby = flag(row)?;
    // Negative if the standby's clock is behind the primary's.
    let millis = u32::try_from(int(row)?.max(0)).unwrap_or(u32::MAX);
    Ok((is_standby, f64::from(millis) / 1000.0))
}

/// Reason for a read without an answer from the replica.
enum ReplicaUnavailable {
    /// The replica is unavailable.
    Down(String),
    /// The statement failed on the replica.
    Failed(Failure),
}

impl Replica {
    /// Connects to the replica of a store.
    pub(crate) async fn connect(
        store: &PostgresStore,
        url: &str,
        options: &PostgresOptions,
    ) -> Result<Self, ConnectError> {
        if let Some(reason) = store.layout.refusal_of_replicas() {
            return Err(ConnectError::Replica(reason.to_owned()));
        }
        let to_replica_error = |error: ConnectError| ConnectError::Replica(error.to_string());
        let identity = store.find(&Sql::plain(IDENTITY), Identity::read).await;
        let identity = identity.map_err(|error| ConnectError::Replica(error.to_string()))?;
        let identity = identity.ok_or_else(|| ConnectError::Replica("the primary gave no identity".to_owned()))?;
        let deadline = options.slow_reads.deadline;
        let session = Session::new(url, &options.application_name).map_err(to_replica_error)?;
        let (has_migration, migration) =
            newest_migration().map_err(|error| ConnectError::Replica(error.to_string()))?;
        let standby = StandbyOf { identity, migration, has_migration: Arc::new(has_migration) };
        let session = session.with_statement_timeout(deadline).with_standby_of(standby);
        let pool = Pool::new("replica", None, &session, options.pool / SHARE)?;
        counter!(READS).increment(0);
        counter!(FALLBACKS).increment(0);
        Ok(Self { pool, patience: deadline + GRACE, state: Mutex::new(State::Unknown) })
    }

    /// Returns `true` if a read may try the replica. While it is down, one read in each [`PAUSE`] may.
    fn may_be_asked(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        match *state {
            State::Down { until } if now < until => false,
            State::Down { .. } => {
                *state = State::Down { until: now + PAUSE };
                true
            }
            State::Unknown | State::Up => true,
        }
    }

    fn mark_up(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match *state {
            State::Up => return,
            State::Unknown => {}
            State::Down { .. } => tracing::info!(
                "the replica responds again; reads that may be stale use the \
                                                  replica"
            ),
        }
        *state = State::Up;
        gauge!("candor_store_replica_up").set(1);
    }

    fn mark_down(&self, reason: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*state, State::Down { .. }) {
            tracing::warn!(
                reason,
                "cannot read the replica; all reads use the primary until the replica responds"
            );
        }
        *state = State::Down { until: Instant::now() + PAUSE };
        gauge!("candor_store_replica_up").set(0);
    }

    async fn ask(&self, sql: &Sql, rows: &mut dyn RowSink) -> Result<(), ReplicaUnavailable> {
        let result = match timeout(self.patience, self.ask_once(sql, rows)).await {
            Ok(it) => it,
            Err(_) => Err(ReplicaUnavailable::Down("the replica did not answer in time".to_owned())),
        };
        match &result {
            Ok(()) => self.mark_up(),
            Err(ReplicaUnavailable::Down(reason)) => self.mark_down(reason),
            Err(ReplicaUnavailable::Failed(failure)) => tracing::debug!(?failure, "a read failed on the replica"),
        }
        result
    }

    async fn ask_once(&self, sql: &Sql, rows: &mut dyn RowSink) -> Result<(), ReplicaUnavailable> {
        let down = |failure: Failure| ReplicaUnavailable::Down(failure.text());
        // Without a tenant: a wait for a share must not count as an outage of the replica.
        let pooled_connection = self.pool.get(None).await.map_err(down)?;
        let connection = pooled_connection.get().map_err(down)?;
        let result = run_into(connection, sql, rows).await;
        if let Err(Failure::Lost(text)) = result {
            return Err(ReplicaUnavailable::Down(text));
        }
        let (is_standby, lag) =
            one(connection, &Sql::plain(STANDING), read_standby).await.map_err(ReplicaUnavailable::Down)?;
        // A promoted standby may have diverged from this database.
        if !is_standby {
            return Err(ReplicaUnavailable::Down("the server is no standby any more".to_owned()));
        }
        gauge!("candor_store_replica_lag_seconds").set(lag);
        pooled_connection.give_back();
        result.map_err(ReplicaUnavailable::Failed)
    }
}

impl PostgresStore {
    /// Checks that the replica answers, if there is one.
    ///
    /// # Errors
    /// The reason why the replica cannot be read.
    pub async fn examine_replica(&self) -> Result<(), String> {
        let Some(replica) = &self.for_replica().asked_first else { return Ok(()) };
        replica.ask(&Sql::plain(STANDING), &mut Values::read_by(flag)).await.map_err(|error| match error {
            ReplicaUnavailable::Down(reason) => reason,
            ReplicaUnavailable::Failed(failure) => failure.text(),
        })
    }

    /// Reads from the replica. `None` if it is unavailable, or if this store always reads the primary.
    pub(crate) async fn read_replica_values<T: Send>(
        &self,
        sql: &Sql,
        read: impl Fn(&mut dyn CellReader) -> Result<T, Failure> + Send,
    ) -> Option<Vec<T>> {
        let mut values = Values::read_by(read);
        let is_complete = self.read_replica(sql, &mut values).await;
        is_complete.then(|| values.into_vec())
    }

    /// Reads rows from the replica, and returns `true` if it answered.
    pub(crate) async fn read_replica(&self, sql: &Sql, rows: &mut dyn RowSink) -> bool {
        match self.read_replica_in_time(sql, rows).await {
            Some(Ok(())) => true,
            Some(Err(_)) => {
                fell_back();
                false
            }
            None => false,
        }
    }

    /// Reads rows from the replica. Returns the error if the read exceeded its timeout there, and `None` if the
    /// caller must ask the primary.
    pub(crate) async fn read_replica_in_time(
        &self,
        sql: &Sql,
        rows: &mut dyn RowSink,
    ) -> Option<Result<(), Failure>> {
        let replica = self.asked_first.as_ref()?;
        if replica.may_be_asked() {
            match replica.ask(sql, rows).instrument(sql.span()).await {
                Ok(()) => {
                    counter!(READS).increment(1);
                    return Some(Ok(()));
                }
                Err(ReplicaUnavailable::Failed(Failure::TimedOut(text))) => {
                    return Some(Err(Failure::TimedOut(text)));
                }
                Err(ReplicaUnavailable::Down(_) | ReplicaUnavailable::Failed(_)) => {}
            }
        }
        fell_back();
        None
    }
}

fn fell_back() {
    counter!(FALLBACKS).increment(1);
}
