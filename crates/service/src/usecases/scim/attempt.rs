//! Attempts of a write: it is planned again if another change was committed first.

use std::future::Future;

use candor_domain::people::Connector;
use candor_domain::scim::Refused;
use candor_domain::time::Timestamp;
use candor_port_storage::ChangeSet;

use super::arrival::{Arrival, WrittenUser};
use super::{ScimContext, ScimFailure};
use crate::change::commit::SavedPiece;
use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::services::{ATTEMPTS, Services};
use crate::usecases::connectors::provider;

/// An attempt of a write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    /// The time of its changes.
    pub(super) at: Timestamp,
    /// `true` if the plan assumes that no person has the identifiers of the user. The commit then checks this.
    pub(super) assumes_new: bool,
}

/// Result of planning a write.
pub(super) enum WritePlan {
    /// Saves nothing and returns this reply.
    Unchanged(Reply),
    /// Saves the change set, then returns the reply. The arrival is settled afterwards.
    Commit(Box<ChangeSet>, Reply, Option<Arrival>),
    /// Refuses the request and records its issue.
    Refuse(Box<Refused>),
}

impl ScimContext {
    /// Runs a write: plans, commits, and plans again if another change was committed first. With `assumes_new`, the
    /// plan of the first attempt assumes a new person. If that attempt fails, later attempts look for the person.
    pub(super) async fn run<F, Fut>(
        &self,
        services: &Services,
        connector: &Connector,
        mut assumes_new: bool,
        plan: F,
    ) -> Result<WrittenUser, ScimFailure>
    where
        F: Fn(Attempt) -> Fut,
        Fut: Future<Output = Result<WritePlan, ScimFailure>>,
    {
        let request = &self.request;
        let mut turn = None;
        for _ in 0..ATTEMPTS {
            let now = services.clock.now();
            let (mut change, reply, arrival) = match plan(Attempt { at: now, assumes_new }).await {
                Ok(WritePlan::Commit(change, reply, arrival)) => (change, reply, arrival),
                Ok(WritePlan::Unchanged(reply)) => {
                    return Ok(services.store_replay(request, reply, now).await?.into());
                }
                // The person may exist already: an update can be allowed although the creation is refused.
                Ok(WritePlan::Refuse(_)) | Err(ScimFailure::Refused(_)) if assumes_new => {
                    assumes_new = false;
                    continue;
                }
                Ok(WritePlan::Refuse(refused)) => return self.refuse(services, connector, *refused).await,
                Err(ScimFailure::Refused(error)) => return self.refuse(services, connector, error.into()).await,
                Err(failure) => return Err(failure),
            };
            // Moves of one organization conflict: without a turn, new moves would overtake a move that is tried again.
            if turn.is_none() && change.moves_people() {
                turn = Some(services.move_lock(self.tenant()).await);
                continue;
            }
            change.replay = services.seal_replay(request, &reply, now)?;
            match services.save_piece(request, *change).await? {
                SavedPiece::Saved => return Ok(WrittenUser { reply, arrival }),
                SavedPiece::Replayed(earlier) => return Ok(earlier.into()),
                SavedPiece::Overtaken { is_taken: true } if assumes_new => {
                    assumes_new = false;
                    continue;
                }
                SavedPiece::Overtaken { .. } => {}
            }
            // A new person conflicts with the move of a manager above.
            if turn.is_none() {
                turn = Some(services.move_lock(self.tenant()).await);
            }
        }
        Err(Error::Contended.into())
    }

    /// Returns the replay of an earlier request with the same idempotency key, or records the issue and
    /// refuses.
    async fn refuse(
        &self,
        services: &Services,
        connector: &Connector,
        refused: Refused,
    ) -> Result<WrittenUser, ScimFailure> {
        if let Some(reply) = services.find_replay(&self.request).await? {
            return Ok(reply.into());
        }
        if let Some(issue) = refused.issue {
            provider::report_refusal(services, &self.request, connector, *issue).await?;
        }
        Err(refused.error.into())
    }
}
