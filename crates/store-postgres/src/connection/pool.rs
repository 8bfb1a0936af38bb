//! The connections that one user has alone: change sets, and reads whose cost depends on the data.

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

/// The longest wait for a free connection. Clients give up soon after, and a queue that is longer only grows.
const WAIT: Duration = Duration::from_secs(5);

/// The pool.
#[derive(Clone)]
pub(crate) struct Pool {
    connections: Deadpool<AsyncPgConnection>,
    /// What the metrics call it, …
    name: &'static str,
    /// … and the node it leads to, where there are several.
    node: Option<Arc<str>>,
}

/// A connection of the pool; it goes back when dropped.
pub(crate) type Pooled = Object<AsyncPgConnection>;

impl Pool {
    /// At most this many connections; each is made when it is first needed.
    pub(crate) fn new(
        name: &'static str,
        node: Option<&str>,
        session: &Session,
        size: usize,
    ) -> Result<Self, ConnectError> {
        let maker = session.clone();
        let mut config = ManagerConfig::<AsyncPgConnection>::default();
        // A round trip per checkout would cost a third of the throughput; a closed connection is noticed without one.
        config.recycling_method = RecyclingMethod::Fast;
        config.custom_setup = Box::new(move |_| {
            let maker = maker.clone();
            async move { maker.connect().await.map_err(|it| ConnectionError::BadConnection(it.text())) }.boxed()
        });
        let manager = AsyncDieselConnectionManager::new_with_config("", config);
        let pool = Deadpool::builder(manager).max_size(size.max(1)).build();
        let node = node.map(Arc::from);
        pool.map(|connections| Self { connections, name, node }).map_err(|it| ConnectError::Pool(it.to_string()))
    }

    /// A free connection, within a bounded time.
    pub(crate) async fn get(&self) -> Result<Pooled, Failure> {
        let taken = timeout(WAIT, self.connections.get()).await;
        self.report();
        match taken {
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

/// A connection that leaves the pool unless it is given back: whoever stops half-way leaves it in a state that is not
/// known.
pub(crate) struct Held(Option<Pooled>);

impl Held {
    pub(crate) const fn new(connection: Pooled) -> Self {
        Self(Some(connection))
    }

    /// The connection.
    pub(crate) fn get(&self) -> Result<&AsyncPgConnection, Failure> {
        self.0.as_deref().ok_or_else(|| Failure::Other("the connection was given back".to_owned()))
    }

    /// Gives it back to the pool, in order.
    pub(crate) fn give_back(mut self) {
        drop(self.0.take());
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(it) = self.0.take() {
            drop(Pooled::take(it));
        }
    }
}
