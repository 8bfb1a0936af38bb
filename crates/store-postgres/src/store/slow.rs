//! Slow reads, which no index answers, on connections reserved for them (decision A17).

use std::sync::Arc;
use std::time::Duration;

use candor_domain::access::Tenant;
use candor_fair_share::large_work::is_polled_in_turn;
use candor_fair_share::{Places, SlowReadPermit, SlowReads};
use candor_port_storage::error::Read;
use candor_port_storage::{SlowListError, TooSlowError};
use candor_tables::flat::CellReader;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::connection::rows::{RawRows, RowSink, Values};
use crate::failure::Failure;
use crate::sql::Sql;
use crate::store::{PostgresStore, pass_from_task};

/// Time that a read waits beyond its deadline, at which the server ends the statement. A response within this time
/// keeps the connection open.
const GRACE: Duration = Duration::from_millis(250);

/// Limits of slow reads, and the limiter of their concurrency.
#[derive(Clone)]
pub(crate) struct SlowReadLimits {
    pub(crate) limits: SlowReads,
    places: Arc<Places>,
}

impl SlowReadLimits {
    /// Creates a limiter with one permit for each connection reserved on a server.
    pub(crate) fn new(limits: SlowReads) -> Self {
        Self { limits, places: Arc::new(Places::new(&limits)) }
    }
}

/// A permit that is held as long as the server may work on the statement: the server does not notice a client that
/// goes away.
struct StatementPermit {
    place: Option<SlowReadPermit>,
    until: Instant,
    home: Handle,
}

impl StatementPermit {
    fn leave(mut self) {
        drop(self.place.take());
    }
}

impl Drop for StatementPermit {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            let deadline = self.until;
            self.home.spawn(async move {
                sleep_until(deadline).await;
                drop(place);
            });
        }
    }
}

impl PostgresStore {
    /// Runs a read that no index answers, once a permit is free. Fails with [`TooSlowError`] if no permit becomes free
    /// in time, or if the read exceeds its deadline. `conditions` are the query parameters that make the read
    /// slow.
    pub(crate) async fn slowly<T: Send>(
        &self,
        tenant: Tenant,
        conditions: &[String],
        sql: &Sql,
        read: impl Fn(&mut dyn CellReader) -> Result<T, Failure> + Send,
    ) -> Read<Vec<T>> {
        let mut values = Values::read_by(read);
        self.slowly_into(tenant, conditions, sql, &mut values).await?;
        Ok(values.into_vec())
    }

    async fn slowly_into(
        &self,
        tenant: Tenant,
        conditions: &[String],
        sql: &Sql,
        rows: &mut dyn RowSink,
    ) -> Read<()> {
        if !is_polled_in_turn() {
            return self.read_slowly_here(tenant, conditions, sql, rows).await;
        }
        let (store, conditions, sql) = (self.clone(), conditions.to_vec(), sql.clone());
        let read = async move {
            let mut raw_rows = RawRows::default();
            store.read_slowly_here(tenant, &conditions, &sql, &mut raw_rows).await.map(|()| raw_rows)
        };
        pass_from_task(read, rows).await
    }

    async fn read_slowly_here(
        &self,
        tenant: Tenant,
        conditions: &[String],
        sql: &Sql,
        rows: &mut dyn RowSink,
    ) -> Read<()> {
        let SlowReadLimits { limits, places } = &self.slow;
        let place = places.take(tenant, conditions).await?;
        let out_of_time =
            || TooSlowError { cause: SlowListError::OutOfTime, conditions: conditions.to_vec() }.into();
        if limits.deadline.is_zero() {
            return Err(out_of_time());
        }
        let deadline = || Instant::now() + limits.deadline + GRACE;
        let mut permit = StatementPermit { place: Some(place), until: deadline(), home: self.home.clone() };
        if let Some(result) = self.read_replica_in_time(sql, rows).await {
            permit.leave();
            return result.map_err(|_| out_of_time());
        }
        // The primary gets a deadline of its own: the attempt on the replica has cost the primary no time.
        permit.until = deadline();
        match timeout_at(permit.until, self.nodes.read_apart(|node| &node.slow, sql, rows)).await {
            Ok(Err(Failure::TimedOut(_))) => {
                permit.leave();
                Err(out_of_time())
            }
            Ok(done) => {
                permit.leave();
                done.map_err(Failure::into_storage)
            }
            Err(_) => Err(out_of_time()),
        }
    }
}
