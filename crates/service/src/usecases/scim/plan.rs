//! Plans of writes for [`RequestContext::change`], and the steps that follow the commit.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use candor_domain::time::Timestamp;
use candor_port_storage::ChangeSet;
use candor_provisioning::Connector;
use tokio::sync::OnceCell;

use super::ScimContext;
use super::arrival::Arrival;
use crate::change::ChangePlan;
use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::usecases::connectors::provider;

/// An attempt of a write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    /// The time of its changes.
    pub(super) at: Timestamp,
    /// `true` if the plan assumes that no person has the identifiers of the user. The commit then checks this.
    pub(super) assumes_new: bool,
}

/// A planned write.
pub(super) struct WritePlan {
    pub(super) change: ChangePlan,
    /// The person whose manager or reports may have arrived before the commit.
    pub(super) arrival: Option<Arrival>,
}

impl WritePlan {
    /// Creates a plan that saves a change set.
    pub(super) fn commit(change: ChangeSet, reply: Reply, arrival: Option<Arrival>) -> Self {
        Self { change: ChangePlan::Commit(Box::new(change), reply), arrival }
    }

    fn moves_people(&self) -> bool {
        matches!(&self.change, ChangePlan::Commit(change, _) if change.moves_people())
    }
}

impl ScimContext {
    /// Runs a write. After the commit, sets the managers of people who still wait for them, see [`Arrival`]. After a
    /// refusal, records its issue. With `assumes_new`, the first plan assumes a new person. If the first plan is
    /// refused or overtaken, later plans look for the person.
    pub(super) async fn run<F, Fut>(
        &self,
        connector: &Connector,
        assumes_new: bool,
        plan: F,
    ) -> Result<Reply, Error>
    where
        F: Fn(Attempt) -> Fut,
        Fut: Future<Output = Result<WritePlan, Error>>,
    {
        let (is_repeated, turn, arrival) = (AtomicBool::new(false), OnceCell::new(), Mutex::new(None));
        let take_turn = || turn.get_or_init(|| self.services().move_lock(self.tenant()));
        let plan_change = async |start: Timestamp| {
            let mut attempt = Attempt { at: start, assumes_new };
            // A repeated attempt takes the turn even if it creates a person: a creation conflicts with a move of its
            // manager.
            if is_repeated.swap(true, Ordering::Relaxed) {
                take_turn().await;
                attempt = Attempt { at: self.services().clock.now(), assumes_new: false };
            }
            loop {
                match plan(attempt).await {
                    // The person may exist already: an update can be allowed although the creation is refused.
                    Err(Error::ScimRefused(_)) if attempt.assumes_new => attempt.assumes_new = false,
                    // Moves of one organization conflict: without a turn, new moves would overtake a move that is
                    // tried again.
                    Ok(write) if write.moves_people() && !turn.initialized() => {
                        take_turn().await;
                        attempt.at = self.services().clock.now();
                    }
                    Ok(write) => {
                        *arrival.lock().unwrap_or_else(PoisonError::into_inner) = write.arrival;
                        return Ok(write.change);
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        let result = self.request.change(plan_change).await;
        drop(turn);
        match result {
            Err(Error::ScimRefused(mut refused)) => {
                if let Some(issue) = refused.issue.take() {
                    provider::report_refusal(&self.request, connector, *issue).await?;
                }
                Err(Error::ScimRefused(refused))
            }
            Ok(reply) if !reply.replayed => {
                if let Some(arrival) = arrival.into_inner().unwrap_or_else(PoisonError::into_inner) {
                    self.settle(connector, &arrival).await;
                }
                Ok(reply)
            }
            result => result,
        }
    }
}
