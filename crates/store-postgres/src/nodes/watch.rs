//! Looks at the nodes of a cluster again and again: which of them answer, and what their numbers are.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use candor_tables::flat::Fetch;
use diesel_async::AsyncPgConnection;
use futures_util::future::join_all;
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use super::Inner;
use super::state::{Health, NodeNumber, State};
use crate::connection::session::{Session, run};
use crate::failure::Failure;
use crate::sql::Sql;

/// So long after one look at all nodes is the next.
const PAUSE: Duration = Duration::from_secs(1);
/// A node that does not answer for so long is silent: as long as a statement of a request may take.
const PATIENCE: Duration = super::SHARED_TIMEOUT;
/// One that does not let a connection be made is silent as well, unless that is clear so soon.
const SOON: Duration = Duration::from_secs(1);

/// Asks a node which one it is.
const NUMBER: &str = "SELECT groupid::bigint FROM pg_dist_local_group";

/// What looks at a node, on a connection of its own: those for requests are all held where it is silent.
pub(super) struct Watch {
    session: Session,
    connection: Mutex<Option<AsyncPgConnection>>,
}

/// What a node did not do.
enum Unseen {
    /// It refused, or broke the connection.
    Refused(String),
    /// It did nothing.
    Silent(String),
}

impl Watch {
    pub(super) fn new(session: Session) -> Self {
        Self { session, connection: Mutex::default() }
    }

    /// The number of the node, if it tells one.
    async fn look(&self) -> Result<Option<NodeNumber>, Unseen> {
        let begun = Instant::now();
        let asked = async {
            let mut kept = self.connection.lock().await;
            // Whoever stops half-way leaves none.
            if let Some(connection) = kept.take()
                && let Ok(number) = number(&connection).await
            {
                *kept = Some(connection);
                return Ok(number);
            }
            let connection = self.session.connect().await?;
            let number = number(&connection).await?;
            *kept = Some(connection);
            Ok::<_, Failure>(number)
        };
        match timeout(PATIENCE, asked).await {
            Ok(Ok(number)) => Ok(number),
            Ok(Err(failure)) if begun.elapsed() < SOON => Err(Unseen::Refused(failure.text())),
            Ok(Err(failure)) => Err(Unseen::Silent(failure.text())),
            Err(_) => Err(Unseen::Silent("no answer in time".to_owned())),
        }
    }
}

async fn number(connection: &AsyncPgConnection) -> Result<Option<NodeNumber>, Failure> {
    let read = |row: &mut dyn Fetch| row.int().map_err(Failure::Other);
    Ok(run(connection, &Sql::plain(NUMBER), read).await?.into_iter().next().flatten())
}

/// Looks at all nodes, and goes on with it for as long as anybody has them.
///
/// # Errors
/// Why one of them does not answer, if none does.
pub(super) async fn begin(nodes: &Arc<Inner>) -> Result<(), String> {
    let seen = nodes.look_at_all().await;
    if let Some(reason) = seen.iter().all(Result::is_err).then(|| seen.into_iter().find_map(Result::err)).flatten() {
        return Err(reason);
    }
    tokio::spawn(go_on(Arc::downgrade(nodes)));
    Ok(())
}

/// All nodes each time: one may have become silent, and another server may have taken the place of one.
async fn go_on(nodes: Weak<Inner>) {
    loop {
        sleep(PAUSE).await;
        let Some(nodes) = nodes.upgrade() else { return };
        nodes.look_at_all().await;
    }
}

impl Inner {
    async fn look_at_all(&self) -> Vec<Result<(), String>> {
        let watched = self.nodes.iter().enumerate().filter_map(|(place, it)| Some((place, it.watch.as_ref()?)));
        join_all(watched.map(|(place, watch)| self.look_at(place, watch))).await
    }

    /// Looks at a node and notes what it says.
    ///
    /// # Errors
    /// Why it says nothing.
    async fn look_at(&self, place: usize, watch: &Watch) -> Result<(), String> {
        let (health, reason) = match watch.look().await {
            Ok(number) => {
                self.note(place, "", |_| State { health: Health::Up, number });
                return Ok(());
            }
            Err(Unseen::Refused(reason)) => (Health::Down, reason),
            Err(Unseen::Silent(reason)) => (Health::Silent, reason),
        };
        self.note(place, &reason, |before| State { health, ..before });
        Err(reason)
    }
}
