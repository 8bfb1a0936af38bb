//! Health checks of the nodes of a cluster: which of them answer, and their group ids.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use candor_tables::flat::CellReader;
use diesel_async::AsyncPgConnection;
use futures_util::future::join_all;
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use super::Inner;
use super::state::{Health, NodeNumber, State};
use crate::connection::session::{Session, run};
use crate::failure::Failure;
use crate::sql::Sql;

/// Interval between health checks.
const PAUSE: Duration = Duration::from_secs(1);
/// Time without a response after which a node is silent; equals the statement timeout on shared connections.
const PATIENCE: Duration = super::SHARED_TIMEOUT;
/// Time within which a refused connection means that the node is down; a later failure means that it is silent.
const SOON: Duration = Duration::from_secs(1);

/// Query for the group id of the node that answers.
const NUMBER: &str = "SELECT groupid::bigint FROM pg_dist_local_group";

/// Health check of a node, on a connection of its own: if the node is silent, requests hold all connections of the
/// pool.
pub(super) struct Watch {
    session: Session,
    connection: Mutex<Option<AsyncPgConnection>>,
}

/// Failure of a health check.
enum HealthCheckError {
    /// The node refused or broke the connection.
    Refused(String),
    /// The node did not answer, or its failure took longer than [`SOON`].
    Silent(String),
}

impl Watch {
    pub(super) fn new(session: Session) -> Self {
        Self { session, connection: Mutex::default() }
    }

    /// Checks the node, and returns its group id if it has one.
    async fn look(&self) -> Result<Option<NodeNumber>, HealthCheckError> {
        let start = Instant::now();
        let check = async {
            let mut kept_connection = self.connection.lock().await;
            // `take`: a cancelled check must not leave its connection behind.
            if let Some(connection) = kept_connection.take()
                && let Ok(number) = number(&connection).await
            {
                *kept_connection = Some(connection);
                return Ok(number);
            }
            let connection = self.session.connect().await?;
            let number = number(&connection).await?;
            *kept_connection = Some(connection);
            Ok::<_, Failure>(number)
        };
        match timeout(PATIENCE, check).await {
            Ok(Ok(number)) => Ok(number),
            Ok(Err(failure)) if start.elapsed() < SOON => Err(HealthCheckError::Refused(failure.text())),
            Ok(Err(failure)) => Err(HealthCheckError::Silent(failure.text())),
            Err(_) => Err(HealthCheckError::Silent("no answer in time".to_owned())),
        }
    }
}

async fn number(connection: &AsyncPgConnection) -> Result<Option<NodeNumber>, Failure> {
    let read = |row: &mut dyn CellReader| row.int().map_err(Failure::Other);
    Ok(run(connection, &Sql::plain(NUMBER), read).await?.into_iter().next().flatten())
}

/// Checks all nodes, and repeats that in a task until [`Inner`] is dropped.
///
/// # Errors
/// The reason of one node, if no node answers.
pub(super) async fn begin(nodes: &Arc<Inner>) -> Result<(), String> {
    let node_states = nodes.look_at_all().await;
    if let Some(reason) =
        node_states.iter().all(Result::is_err).then(|| node_states.into_iter().find_map(Result::err)).flatten()
    {
        return Err(reason);
    }
    tokio::spawn(repeat_checks(Arc::downgrade(nodes)));
    Ok(())
}

/// Repeats the checks of all nodes, healthy ones included: a node may become silent, or be replaced by another
/// server.
async fn repeat_checks(nodes: Weak<Inner>) {
    loop {
        sleep(PAUSE).await;
        let Some(nodes) = nodes.upgrade() else { return };
        nodes.look_at_all().await;
    }
}

impl Inner {
    async fn look_at_all(&self) -> Vec<Result<(), String>> {
        let watched_nodes =
            self.nodes.iter().enumerate().filter_map(|(place, node)| Some((place, node.watch.as_ref()?)));
        join_all(watched_nodes.map(|(place, watch)| self.check_node(place, watch))).await
    }

    /// Checks a node and records the result.
    ///
    /// # Errors
    /// The reason for which the check failed.
    async fn check_node(&self, place: usize, watch: &Watch) -> Result<(), String> {
        let (health, reason) = match watch.look().await {
            Ok(number) => {
                self.note(place, "", |_| State { health: Health::Up, number });
                return Ok(());
            }
            Err(HealthCheckError::Refused(reason)) => (Health::Down, reason),
            Err(HealthCheckError::Silent(reason)) => (Health::Silent, reason),
        };
        self.note(place, &reason, |before| State { health, ..before });
        Err(reason)
    }
}
