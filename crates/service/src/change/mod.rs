//! The one way to change stored data: plan, commit, and plan again if another change was committed first.
//!
//! [`RequestContext::change`] is the way of requests; `create`, `update` and `act` make its plans for one resource.
//! `retry` is the way of background work and of requests without an API key. Work in many commits saves each piece by
//! `save_piece`. A `Batch` collects several decisions in one commit. Nothing else commits, and `commit` alone says what
//! the error of a commit means.

mod batch;
pub(crate) mod commit;
mod dry_run;
pub(crate) mod resource;

use std::future::Future;

use candor_domain::access::Tenant;
use candor_domain::time::Timestamp;
use candor_port_storage::ChangeSet;

pub(crate) use self::batch::Batch;
use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::{ATTEMPTS, Services};

/// Result of planning a change: a reply without a commit, or a change set with its reply.
pub enum ChangePlan {
    /// Commits nothing and returns this reply.
    Unchanged(Reply),
    /// Commits the change set, then returns the reply.
    Commit(Box<ChangeSet>, Reply),
}

/// Result of planning a change that [`Services::retry`] commits.
pub(crate) enum Attempt<T> {
    /// Commits nothing and returns this value.
    Done(T),
    /// Commits the change set, then returns the value.
    Commit(Tenant, Box<ChangeSet>, T),
    /// Another change was seen, so that the plan is made again.
    Overtaken,
}

impl RequestContext {
    /// Runs a use case that changes data: plans, commits, and plans again if another change was committed first.
    /// A dry run checks its plan instead of committing it.
    ///
    /// A request with an idempotency key runs as if the key were new. The replay is read only if the
    /// request is refused or the commit finds the key: the usual case needs no extra round trip.
    ///
    /// # Errors
    /// Errors of the plan; [`Error::KeyReused`], [`Error::PreconditionFailed`], [`Error::Contended`].
    pub async fn change<F, Fut>(&self, plan: F) -> Result<Reply, Error>
    where
        F: Fn(Timestamp) -> Fut,
        Fut: Future<Output = Result<ChangePlan, Error>>,
    {
        for _ in 0..ATTEMPTS {
            let now = self.services.clock.now();
            let change_plan = plan(now).await;
            let reply = if self.dry_run {
                self.services.preview(self.caller.tenant, change_plan?).await?
            } else {
                self.commit_or_replay(change_plan, now).await?
            };
            if let Some(reply) = reply {
                return Ok(reply);
            }
        }
        Err(Error::Contended)
    }

    /// Commits a plan and returns its reply, or the replay of an earlier request with the same key.
    /// Returns `None` if another change was committed first. Not generic, so that it is compiled once.
    async fn commit_or_replay(
        &self,
        planned: Result<ChangePlan, Error>,
        at: Timestamp,
    ) -> Result<Option<Reply>, Error> {
        let (mut change, reply) = match planned {
            Ok(ChangePlan::Unchanged(reply)) => {
                return self.services.store_replay(self, reply, at).await.map(Some);
            }
            Ok(ChangePlan::Commit(change, reply)) => (change, reply),
            Err(error) => return self.services.replay_or(self, Err(error)).await.map(Some),
        };
        change.replay = self.services.seal_replay(self, &reply, at)?;
        self.save_piece(*change).await?.reply(reply)
    }
}

impl Services {
    /// Runs a change of the service itself, or of a request without an API key: plans, commits, and plans again
    /// if another change was committed first.
    ///
    /// # Errors
    /// Errors of the plan and of the store; [`Error::Contended`].
    pub(crate) async fn retry<T, E, F, Fut>(&self, plan: F) -> Result<T, E>
    where
        E: From<Error>,
        F: Fn(Timestamp) -> Fut,
        Fut: Future<Output = Result<Attempt<T>, E>>,
    {
        for _ in 0..ATTEMPTS {
            match plan(self.clock.now()).await? {
                Attempt::Done(value) => return Ok(value),
                Attempt::Commit(tenant, change, value) => {
                    if self.commit_unless_overtaken(tenant, *change).await? {
                        return Ok(value);
                    }
                }
                Attempt::Overtaken => {}
            }
        }
        Err(Error::Contended.into())
    }
}
