//! Pool of exclusive connections, for change sets and for reads whose cost depends on the data. Organizations take
//! turns at its connections. In a pool of several connections, no organization holds all of them.

use std::sync::Arc;
use std::time::Duration;

use candor_domain::access::Tenant;
use candor_fair_share::LargeWork;
use candor_fair_share::large_work::Turn;
use diesel::ConnectionError;
use diesel_async::AsyncPgConnection;
use diesel_async::pooled_connection::deadpool::{Object, Pool as Deadpool, PoolError};
use diesel_async::pooled_connection::{self, AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use futures_util::FutureExt;
use metrics::gauge;
use tokio::time::timeout;

use crate::connection::session::Session;
use crate::failure::{Failure, with_causes};
use crate::options::ConnectError;

/// Maximum wait for a free connection. Clients give up soon after, and a longer queue would only grow.
const WAIT: Duration = Duration::from_secs(5);
/// Divisor for the share of the connections that one organization leaves to other organizations. The share is at
/// least one connection.
const LEFT_TO_OTHERS: usize = 4;

/// Pool of exclusive connections, which reports its use as metrics.
#[derive(Clone)]
pub(crate) struct Pool {
    connections: Deadpool<AsyncPgConnection>,
    /// As many turns as connections: a caller with a turn gets a connection at once.
    turns: LargeWork,
    /// Value of the `pool` label in metrics.
    name: &'static str,
    /// Value of the `node` label in metrics; `None` for a single server.
    node: Option<Arc<str>>,
}

/// Returns the number of connections of a pool that one organization may hold.
pub(crate) fn share_of(size: usize) -> usize {
    size.saturating_sub((size / LEFT_TO_OTHERS).max(1)).max(1)
}

impl Pool {
    /// Creates a pool of at most `size` connections. Each is opened when it is first needed.
    pub(crate) fn new(
        name: &'static str,
        node: Option<&str>,
        session: &Session,
        size: usize,
    ) -> Result<Self, ConnectError> {
        let maker = session.clone();
        let mut config = ManagerConfig::<AsyncPgConnection>::default();
        // `Fast`: a health check at each checkout would cost a third of the throughput. A closed connection is
        // detected without such a check.
        config.recycling_method = RecyclingMethod::Fast;
        config.custom_setup = Box::new(move |_| {
            let maker = maker.clone();
            async move { maker.connect().await.map_err(|error| ConnectionError::BadConnection(error.text())) }
                .boxed()
        });
        let manager = AsyncDieselConnectionManager::new_with_config("", config);
        let size = size.max(1);
        let pool = Deadpool::builder(manager).max_size(size).build();
        let (node, turns) = (node.map(Arc::from), LargeWork::with_share(size, share_of(size)));
        pool.map(|connections| Self { connections, turns, name, node })
            .map_err(|error| ConnectError::Pool(error.to_string()))
    }

    /// Returns a connection when it is the tenant's turn, or fails after [`WAIT`]. Without a tenant, the work counts as
    /// the service's own.
    pub(crate) async fn get(&self, tenant: Option<Tenant>) -> Result<PooledConnection, Failure> {
        let checkout = timeout(WAIT, self.check_out(tenant)).await;
        self.report();
        checkout.unwrap_or_else(|_| Err(Failure::Busy("no database connection became free in time".to_owned())))
    }

    async fn check_out(&self, tenant: Option<Tenant>) -> Result<PooledConnection, Failure> {
        let turn = self.turns.turn(tenant).await.map_err(|error| Failure::Other(error.to_string()))?;
        match self.connections.get().await {
            Ok(connection) => Ok(PooledConnection { connection: Some(connection), _turn: turn }),
            Err(PoolError::Backend(pooled_connection::PoolError::ConnectionError(
                ConnectionError::BadConnection(it),
            ))) => Err(Failure::Unconnected(it)),
            Err(other) => Err(Failure::Busy(with_causes(&other))),
        }
    }

    fn report(&self) {
        let status = self.connections.status();
        let in_use = status.size.saturating_sub(status.available);
        for (name, value) in [
            ("candor_store_pool_size", status.size),
            ("candor_store_pool_in_use", in_use),
            ("candor_store_pool_waiting", self.turns.waiting_callers()),
        ] {
            let gauge = match &self.node {
                None => gauge!(name, "store" => "postgres", "pool" => self.name),
                Some(node) => gauge!(name, "store" => "postgres", "pool" => self.name, "node" => Arc::clone(node)),
            };
            gauge.set(u32::try_from(value).unwrap_or(u32::MAX));
        }
    }
}

/// A pooled connection that is closed when dropped, unless it was given back. A cancelled task leaves its
/// connection in an unknown state.
pub(crate) struct PooledConnection {
    connection: Option<Object<AsyncPgConnection>>,
    /// Dropped after the connection has gone back, so that the next caller finds it.
    _turn: Turn,
}

impl PooledConnection {
    /// Returns the connection, or an error after [`Self::give_back`].
    pub(crate) fn get(&self) -> Result<&AsyncPgConnection, Failure> {
        self.connection.as_deref().ok_or_else(|| Failure::Other("the connection was given back".to_owned()))
    }

    /// Returns the connection to the pool.
    pub(crate) fn give_back(mut self) {
        drop(self.connection.take());
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        if let Some(it) = self.connection.take() {
            drop(Object::take(it));
        }
    }
}

#[cfg(test)]
mod tests {
    use candor_domain::id::OrganizationId;
    use candor_test_postgres::TestDatabase;

    use super::*;

    fn tenant(number: u8) -> Option<Tenant> {
        Some(Tenant::live(OrganizationId::from_bytes([number; 16])))
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn organization_at_its_share_leaves_free_connections() {
        let Some(database) = TestDatabase::empty().unwrap() else { return };
        let session = Session::new(database.url(), "candor").unwrap();
        let pool = Pool::new("main", None, &session, 4).unwrap();
        let mut held_connections = vec![];
        for _ in 0..share_of(4) {
            held_connections.push(pool.get(tenant(1)).await.unwrap());
        }
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(pool.get(tenant(1)))).collect();
        assert!(waiting.iter_mut().all(|connection| connection.now_or_never().is_none()));
        assert_eq!(pool.turns.waiting_callers(), 3);
        let other = pool.get(tenant(2)).await.unwrap();
        let mut late = Box::pin(pool.get(tenant(3)));
        assert!((&mut late).now_or_never().is_none(), "all are taken");
        other.give_back();
        let late = late.await.unwrap();
        assert!(waiting.iter_mut().all(|connection| connection.now_or_never().is_none()), "they use their share");
        held_connections.pop().unwrap().give_back();
        waiting.remove(0).await.unwrap().give_back();
        late.give_back();
    }

    #[test]
    fn share_leaves_a_quarter_and_at_least_one() {
        assert_eq!([1, 2, 3, 4, 8, 20].map(share_of), [1, 1, 2, 3, 6, 15]);
    }
}
