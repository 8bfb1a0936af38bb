//! Shared connections for reads: statements of many requests are pipelined on one connection.
//!
//! A connection lives on the runtime of the requests that use it, so that a response does not wake another thread.
//! Such a wake-up costs a third of a small read.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use diesel_async::AsyncPgConnection;
use tokio::runtime::{Handle, Id};
use tokio::time::timeout;

use crate::connection::rows::RowSink;
use crate::connection::session::{Session, run_into};
use crate::failure::Failure;
use crate::sql::Sql;

/// Time limit of a read on a shared connection. The server ends statements earlier, so only a server that does not
/// respond exceeds it. The next read then opens a new connection.
const PATIENCE: Duration = Duration::from_secs(15);

/// Shared connections, one for each runtime that sends reads.
pub(crate) struct SharedConnections {
    session: Session,
    shared_connections: Vec<SharedConnection>,
    /// Runtimes that have sent reads, in the order of their first read. The index of a runtime, modulo the number
    /// of connections, selects its connection.
    runtimes: RwLock<Vec<Id>>,
}

/// One shared connection, replaced when it breaks.
#[derive(Default)]
struct SharedConnection {
    current: Mutex<Option<Arc<AsyncPgConnection>>>,
    connecting: tokio::sync::Mutex<()>,
}

impl SharedConnection {
    fn current(&self) -> Option<Arc<AsyncPgConnection>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace(&self, with: Option<Arc<AsyncPgConnection>>) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = with;
    }

    /// Discards a broken connection, unless it is already replaced.
    fn forget(&self, broken: &Arc<AsyncPgConnection>) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_some_and(|connection| Arc::ptr_eq(connection, broken)) {
            *current = None;
        }
    }

    async fn connection(&self, session: &Session) -> Result<Arc<AsyncPgConnection>, Failure> {
        if let Some(it) = self.current() {
            return Ok(it);
        }
        let _one_at_a_time = self.connecting.lock().await;
        if let Some(it) = self.current() {
            return Ok(it);
        }
        let new_connection = Arc::new(session.connect_here().await?);
        self.replace(Some(Arc::clone(&new_connection)));
        Ok(new_connection)
    }
}

impl SharedConnections {
    /// Creates `count` shared connections. Each is opened when it is first needed.
    pub(crate) fn new(session: Session, count: usize) -> Self {
        let shared_connections = (0..count.max(1)).map(|_| SharedConnection::default()).collect();
        Self { session, shared_connections, runtimes: RwLock::default() }
    }

    /// Returns the shared connection of the current runtime. `None` if there are no shared connections.
    fn own(&self) -> Option<&SharedConnection> {
        let runtime = Handle::current().id();
        let position_in = |runtimes: &[Id]| runtimes.iter().position(|id| *id == runtime);
        let known_position = position_in(&self.runtimes.read().unwrap_or_else(PoisonError::into_inner));
        let position = known_position.unwrap_or_else(|| {
            let mut runtimes = self.runtimes.write().unwrap_or_else(PoisonError::into_inner);
            position_in(&runtimes).unwrap_or_else(|| {
                runtimes.push(runtime);
                runtimes.len() - 1
            })
        });
        self.shared_connections.get(position % self.shared_connections.len())
    }

    /// Runs a read on the connection of this runtime. A read that loses its connection is run once more.
    pub(crate) async fn read(&self, sql: &Sql, rows: &mut dyn RowSink) -> Result<(), Failure> {
        match self.attempt(sql, rows).await {
            Err(Failure::Lost(text)) => {
                tracing::info!(
                    reason = text,
                    "lost a shared database connection; repeating the read on a new one"
                );
                self.attempt(sql, rows).await
            }
            other => other,
        }
    }

    async fn attempt(&self, sql: &Sql, rows: &mut dyn RowSink) -> Result<(), Failure> {
        let Some(connection_slot) = self.own() else {
            return Err(Failure::Other("there are no shared connections".to_owned()));
        };
        let connection = connection_slot.connection(&self.session).await?;
        match timeout(PATIENCE, run_into(&connection, sql, rows)).await {
            Ok(Err(Failure::Lost(text))) => {
                connection_slot.forget(&connection);
                Err(Failure::Lost(text))
            }
            Ok(other) => other,
            Err(_) => {
                connection_slot.forget(&connection);
                Err(Failure::Busy("a shared connection did not answer in time".to_owned()))
            }
        }
    }
}
