//! The commit of a change set, and the meaning of its errors.

use candor_domain::access::Tenant;
use candor_domain::event::EventType;
use candor_domain::people::move_too_wide;
use candor_domain::refusal::DomainError;
use candor_port_storage::{ChangeSet, CommitError};
use candor_tables::flat::BackgroundWorker;
use tracing::Instrument;

use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::Services;

/// Result of a commit, unless the store failed.
enum Committed<T> {
    Saved(T),
    /// Another change was committed first, so that the decision is made again.
    Overtaken(CommitError),
    /// The idempotency key has a replay.
    Replayed,
    /// The moved people have too many reporting lines for one commit.
    TooWide,
}

/// Converts the result of a commit to the cases that use cases distinguish.
///
/// # Errors
/// The store failed.
fn read<T>(committed: Result<T, CommitError>) -> Result<Committed<T>, Error> {
    match committed {
        Ok(value) => Ok(Committed::Saved(value)),
        Err(CommitError::Replayed) => Ok(Committed::Replayed),
        Err(CommitError::TooWide) => Ok(Committed::TooWide),
        Err(CommitError::Storage(error)) => Err(error.into()),
        Err(
            error @ (CommitError::Stale | CommitError::Taken(_) | CommitError::Broken(_) | CommitError::Missing),
        ) => Ok(Committed::Overtaken(error)),
    }
}

/// Returns the value of a commit or of its check; `None` if another change was committed first, or the
/// idempotency key has a replay.
///
/// # Errors
/// The store failed, or the moved people have too many reporting lines for one commit.
pub(crate) fn unless_overtaken<T>(committed: Result<T, CommitError>) -> Result<Option<T>, Error> {
    Ok(match read(committed)? {
        Committed::Saved(value) => Some(value),
        Committed::Overtaken(_) | Committed::Replayed => None,
        Committed::TooWide => return Err(too_wide()),
    })
}

/// Result of the commit of a piece of a request.
pub(crate) enum SavedPiece {
    /// The piece is saved.
    Saved,
    /// Another change was committed first.
    Overtaken,
    /// An earlier request with the same idempotency key has this reply.
    Replayed(Reply),
    /// The moved people of the piece have too many reporting lines for one commit.
    TooWide,
}

/// Returns the error of a change that moves people with too many reporting lines for one commit (decision D1).
pub(crate) fn too_wide() -> Error {
    DomainError::unprocessable("manager_id", move_too_wide()).into()
}

impl SavedPiece {
    /// Returns the reply of a request whose last piece this is: `reply` if the piece is saved, or the replay of
    /// the earlier request. Returns `None` if another change was committed first.
    ///
    /// # Errors
    /// The moved people have too many reporting lines for one commit.
    pub(crate) fn reply(self, reply: Reply) -> Result<Option<Reply>, Error> {
        match self {
            Self::Saved => Ok(Some(reply)),
            Self::Replayed(earlier) => Ok(Some(earlier)),
            Self::Overtaken => Ok(None),
            Self::TooWide => Err(too_wide()),
        }
    }
}

impl RequestContext {
    /// Commits a piece of a request, if the caller still has the rights with which the request began.
    ///
    /// # Errors
    /// Errors of the store, of [`RequestContext::confirm_caller`] and of [`Services::find_replay`].
    pub(crate) async fn save_piece(&self, change: ChangeSet) -> Result<SavedPiece, Error> {
        self.confirm_caller().await?;
        Ok(match self.services.commit(self.caller.tenant, change).await? {
            Committed::Saved(()) => SavedPiece::Saved,
            Committed::Overtaken(_) => SavedPiece::Overtaken,
            Committed::Replayed => {
                SavedPiece::Replayed(self.services.replay_or(self, Err(Error::Contended)).await?)
            }
            Committed::TooWide => SavedPiece::TooWide,
        })
    }
}

impl Services {
    /// Commits a change set. Returns `false` if another change was committed first, or the idempotency key has a
    /// replay: the caller then plans the change again.
    pub(super) async fn commit_unless_overtaken(&self, tenant: Tenant, change: ChangeSet) -> Result<bool, Error> {
        match self.commit(tenant, change).await? {
            Committed::Saved(()) => Ok(true),
            Committed::Overtaken(_) | Committed::Replayed => Ok(false),
            Committed::TooWide => Err(too_wide()),
        }
    }

    /// Commits a change set of the service itself. Its only condition is that the written rows still have their
    /// versions. Returns `false` if another change was committed first.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; [`Error::Bug`], also for every other conflict; [`Error::Refused`] if the moved people
    /// have too many reporting lines for one commit.
    pub(crate) async fn commit_unless_stale(&self, tenant: Tenant, change: ChangeSet) -> Result<bool, Error> {
        match self.commit(tenant, change).await? {
            Committed::Saved(()) => Ok(true),
            Committed::Overtaken(CommitError::Stale) => Ok(false),
            Committed::Overtaken(other) => Err(Error::Bug(other.to_string())),
            Committed::Replayed => Err(Error::Bug(CommitError::Replayed.to_string())),
            Committed::TooWide => Err(too_wide()),
        }
    }

    /// Commits a change set that is not planned again.
    ///
    /// # Errors
    /// [`Error::Contended`] if another change was committed first; the errors of [`Services::commit_unless_stale`].
    pub(crate) async fn save(&self, tenant: Tenant, change: ChangeSet) -> Result<(), Error> {
        if self.commit_unless_stale(tenant, change).await? { Ok(()) } else { Err(Error::Contended) }
    }

    /// Commits a change set and hands its queued deliveries to the delivery engine of this process.
    async fn commit(&self, tenant: Tenant, mut change: ChangeSet) -> Result<Committed<()>, Error> {
        for event in &mut change.events {
            event.request_id.clone_from(&change.audit.request_id);
        }
        let address_changes = change.audit_entries().filter(|entry| entry.changes_sign_in_address());
        let address_entries: Vec<_> =
            address_changes.map(|entry| entry.of_sign_in_address(self.id(entry.occurred_at))).collect();
        change.more_audit.extend(address_entries);
        let hand_over = self.deliveries.prepare(tenant, &mut change);
        let wakes_mailer = change.wakes(BackgroundWorker::Mail);
        let ends_rights = change.events.iter().any(|event| event.kind == EventType::EmployeeDeactivated);
        let (rows, events) = (change.writes.len(), change.events.len());
        let span = tracing::info_span!(target: "candor_spans", "commit", rows, events);
        let result = self.store.commit(tenant, change).instrument(span).await;
        self.commit_health.record(&result, self.clock.steady());
        let organization = tenant.organization;
        match &result {
            Ok(_) => tracing::debug!(%organization, rows, events, "saved"),
            Err(error) => tracing::debug!(%organization, rows, events, reason = reason(error), "not saved"),
        }
        if let Some(hand_over) = hand_over {
            hand_over.complete(result.as_ref().ok());
        }
        if wakes_mailer {
            self.mail_queued.notify_one();
        }
        if ends_rights {
            self.auth.forget_people_of(organization);
            self.tokens.forget_people_of(organization);
        }
        read(result.map(drop))
    }
}

/// Returns the reason of a failed commit for the log, without values of the change set.
const fn reason(error: &CommitError) -> &'static str {
    match error {
        CommitError::Stale => "stale",
        CommitError::Taken(_) => "taken",
        CommitError::Broken(_) => "broken",
        CommitError::Missing => "missing",
        CommitError::Replayed => "replayed",
        CommitError::TooWide => "too wide",
        CommitError::Storage(_) => "storage",
    }
}

#[cfg(test)]
mod tests {
    use candor_domain::problem::Code;

    use super::*;

    #[test]
    fn too_wide_move_is_a_problem_of_the_manager() {
        let refusal = unless_overtaken::<()>(Err(CommitError::TooWide));
        let Err(Error::Refused(DomainError::Unprocessable(problems))) = refusal else {
            panic!("{refusal:?}");
        };
        let codes: Vec<_> = problems.as_slice().iter().map(|problem| (&*problem.field, problem.code)).collect();
        assert_eq!(codes, [("manager_id", Code::TooLong)]);
    }
}
