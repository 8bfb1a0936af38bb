//! Looks at the nodes of a cluster again and again: which of them take connections, and what their numbers are.

use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use candor_port_storage::flat::Fetch;
use futures_util::future::join_all;
use tokio::time::sleep;

use super::Inner;
use super::state::State;
use crate::connection::pool::Held;
use crate::connection::session::run;
use crate::failure::Failure;
use crate::sql::Sql;

/// A node that is down is tried again after so long, by nobody's request.
const PAUSE: Duration = Duration::from_secs(1);
/// Every so many pauses all nodes are looked at: another server may have taken the place of one.
const ALL: u32 = 10;

/// Asks a node which one it is.
const NUMBER: &str = "SELECT groupid::bigint FROM pg_dist_local_group";

/// Looks at all nodes, and goes on with it for as long as anybody has them.
///
/// # Errors
/// Why the last of them cannot be reached, if none can.
pub(super) async fn begin(nodes: &Arc<Inner>) -> Result<(), String> {
    let all: Vec<_> = (0..nodes.nodes.len()).collect();
    let seen = join_all(all.into_iter().map(|place| nodes.look_at(place))).await;
    if let Some(reason) = seen.iter().all(Result::is_err).then(|| seen.into_iter().find_map(Result::err)).flatten() {
        return Err(reason);
    }
    tokio::spawn(go_on(Arc::downgrade(nodes)));
    Ok(())
}

async fn go_on(nodes: Weak<Inner>) {
    for round in (1..=ALL).cycle() {
        sleep(PAUSE).await;
        let Some(nodes) = nodes.upgrade() else { return };
        let wanted = |state: &State| round == ALL || *state == State::Down;
        let states = nodes.states.read().unwrap_or_else(PoisonError::into_inner).clone();
        let places = states.iter().enumerate().filter(|(_, it)| wanted(it)).map(|(place, _)| place);
        join_all(places.map(|place| nodes.look_at(place))).await;
    }
}

impl Inner {
    /// Looks at a node and notes what it says. One that has no connection free is as it was.
    ///
    /// # Errors
    /// Why it cannot be reached.
    async fn look_at(&self, place: usize) -> Result<(), String> {
        let Some(node) = self.nodes.get(place) else { return Ok(()) };
        let number = async {
            let held = Held::new(node.connections.main.get().await?);
            let read = |row: &mut dyn Fetch| row.int().map_err(Failure::Other);
            let number = run(held.get()?, &Sql::plain(NUMBER), read).await?.into_iter().next().flatten();
            held.give_back();
            Ok::<_, Failure>(number)
        };
        match number.await {
            Ok(number) => {
                self.note(place, State::Up(number), "");
                Ok(())
            }
            Err(Failure::Unconnected(reason)) => {
                self.note(place, State::Down, &reason);
                Err(reason)
            }
            Err(failure) => {
                tracing::debug!(
                    node = node.name,
                    reason = failure.text(),
                    "a node of the cluster did not say which it is"
                );
                Ok(())
            }
        }
    }
}
