//! Interpretation of a failed commit: a wrong assumption, or the result of the commit.

use candor_port_storage::{CommitError, Require};

use super::build::{STALE, StatementVariant, TOO_WIDE, requires};
use crate::cluster::SUBSCRIBED;
use crate::failure::Failure;
use crate::layout::ExpectedSubscribers;
use crate::layout::idempotency::{IdempotencyKeyState, REPLAYED, is_key_known};

/// Next step after a variant of a change set's statements has failed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Interpretation {
    /// The idempotency key is not new; build the change set again in this variant.
    TryAgain(StatementVariant),
    /// The tenant has subscriptions; build the change set again in this variant.
    Subscribed(StatementVariant),
    /// No assumption was wrong; the failure is the result.
    Final,
}

/// Returns the next step after a failure of this variant. Each assumption can be refuted once.
pub(super) fn refute(variant: StatementVariant, failure: &Failure) -> Interpretation {
    if variant.subscribers == ExpectedSubscribers::None && is_subscribed(failure) {
        return Interpretation::Subscribed(StatementVariant { subscribers: ExpectedSubscribers::Any, ..variant });
    }
    if variant.key == IdempotencyKeyState::New && is_key_known(failure) {
        return Interpretation::TryAgain(StatementVariant { key: IdempotencyKeyState::Any, ..variant });
    }
    Interpretation::Final
}

/// Returns `true` if a commit failed because a subscription wants an event of a change set that assumed no
/// subscriptions.
pub(super) fn is_subscribed(failure: &Failure) -> bool {
    matches!(failure, Failure::Check(name) if name == SUBSCRIBED)
}

/// Returns `true` if a commit failed because the idempotency key of a change set is already used.
pub(super) fn is_replayed(failure: &Failure) -> bool {
    matches!(failure, Failure::Check(name) if name == REPLAYED) || is_key_known(failure)
}

/// Maps a failure to the error of the commit, by the name of the failed check.
pub(super) fn map_failure(failure: Failure, requires: &[Require]) -> CommitError {
    let Failure::Check(name) = failure else { return failure.into_commit() };
    let failed_requirement = name.strip_prefix(requires::CHECK).and_then(|number| number.parse::<usize>().ok());
    match (name.as_str(), failed_requirement.and_then(|number| requires.get(number))) {
        (STALE, _) => CommitError::Stale,
        (REPLAYED, _) => CommitError::Replayed,
        (TOO_WIDE, _) => CommitError::TooWide,
        (_, Some(require)) => CommitError::Broken(*require),
        (_, None) => Failure::Check(name).into_commit(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wrong_assumption_triggers_exactly_one_fallback() {
        let variant = StatementVariant { subscribers: ExpectedSubscribers::None, key: IdempotencyKeyState::New };
        let taken_key = Failure::Unique { constraint: "replays_pkey_102345".to_owned(), text: String::new() };
        let other_subscribers = Failure::Check("subscribed".to_owned());
        let other = Failure::Unique { constraint: "observations_pkey_102345".to_owned(), text: String::new() };
        let any_key = StatementVariant { key: IdempotencyKeyState::Any, ..variant };
        let any_subscribers = StatementVariant { subscribers: ExpectedSubscribers::Any, ..variant };
        assert_eq!(refute(variant, &taken_key), Interpretation::TryAgain(any_key));
        assert_eq!(refute(variant, &other_subscribers), Interpretation::Subscribed(any_subscribers));
        assert_eq!(refute(variant, &other), Interpretation::Final);
        let careful = StatementVariant { subscribers: ExpectedSubscribers::Any, key: IdempotencyKeyState::Any };
        for failure in [&taken_key, &other_subscribers, &other] {
            assert_eq!(refute(careful, failure), Interpretation::Final);
        }
    }
}
