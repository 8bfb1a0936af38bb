//! Pool of exclusive connections, for change sets and for reads whose cost depends on the data.

use std::sync::Arc;
use std::time::Duration;

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

/// Pool of exclusive connections, which reports its use as metrics.
#[derive(Clone)]
pub(crate) struct Pool {
    connections: Deadpool<AsyncPgConnection>,
    /// Value of the `pool` label in metrics.
    name: &'static str,
    /// Value of the `node` label in metrics; `None` for a single server.
    node: Option<Arc<str>>,
}

/// A connection of the pool, which returns to the pool when it is dropped.
pub(crate) type PooledObject = Object<AsyncPgConnection>;

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
        let pool = Deadpool::builder(manager).max_size(size.max(1)).build();
        let node = node.map(Arc::from);
        pool.map(|connections| Self { connections, name, node })
            .map_err(|error| ConnectError::Pool(error.to_string()))
    }

    /// Returns a free connection, or fails after [`WAIT`].
    pub(crate) async fn get(&self) -> Result<PooledObject, Failure> {
        let checkout = timeout(WAIT, self.connections.get()).await;
        self.report();
        match checkout {
            Ok(Ok(it)) => Ok(it),
            Ok(Err(PoolError::Backend(pooled_connection::PoolError::ConnectionError(
                ConnectionError::BadConnection(it),
            )))) => Err(Failure::Unconnected(it)),
            Ok(Err(other)) => Err(Failure::Busy(with_causes(&other))),
            Err(_) => Err(Failure::Busy("no database connection became free in time".to_owned())),
        }
    }

    fn report(&self) {
        let status = self.connections.status();
        let in_use = status.size.saturating_sub(status.available);
        for (name, value) in [
            ("candor_store_pool_size", status.size),
            ("candor_store_pool_in_use", in_use),
            ("candor_store_pool_waiting", status.waiting),
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
pub(crate) struct PooledConnection(Option<PooledObject>);

impl PooledConnection {
    pub(crate) const fn new(connection: PooledObject) -> Self {
        Self(Some(connection))
    }

    /// Returns the connection, or an error after [`Self::give_back`].
    pub(crate) fn get(&self) -> Result<&AsyncPgConnection, Failure> {
        self.0.as_deref().ok_or_else(|| Failure::Other("the connection was given back".to_owned()))
    }

    /// Returns the connection to the pool.
    pub(crate) fn give_back(mut self) {
        drop(self.0.take());
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        if let Some(it) = self.0.take() {
            drop(PooledObject::take(it));
        }
    }
}
