//! Why a use case did not answer: one closed enum, with the public reason and the internal cause apart.

use candor_domain::access::Denied;
use candor_domain::idempotency::IdempotencyKey;
use candor_domain::problem::Problems;
use candor_domain::refusal::Refusal;
use candor_port_clock::NoRandomness;
use candor_port_storage::{SlowCause, StorageError, TooSlow};

/// Why a use case did not answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The domain decided against it.
    #[error("refused: {0:?}")]
    Refused(Refusal),
    /// The body cannot be read; the message is for the client and says where.
    #[error("malformed: {0}")]
    Malformed(String),
    /// `If-Match` names another version.
    #[error("the precondition does not hold")]
    PreconditionFailed,
    /// The idempotency key was used for another request.
    #[error("the idempotency key was used for another request")]
    KeyReused(IdempotencyKey),
    /// Others keep changing the same thing; trying again may work.
    #[error("too many changes at once")]
    Contended,
    /// The store does not answer now; trying again may work.
    #[error("not available: {0}")]
    Unavailable(String),
    /// A list was given up because no index answers it; the message is for the client and says what to narrow.
    #[error("too slow: {0}")]
    TooSlow(String),
    /// What is to be searched is not all in the index yet; trying again will work.
    #[error("the index of words is not complete")]
    NotIndexed,
    /// A defect. The cause is for the log and never reaches a client.
    #[error("failed: {0}")]
    Bug(String),
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Problems> for Error {
    fn from(problems: Problems) -> Self {
        Self::Refused(Refusal::Invalid(problems))
    }
}

impl From<Denied> for Error {
    fn from(denied: Denied) -> Self {
        Self::Refused(Refusal::Denied(denied))
    }
}

impl From<StorageError> for Error {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Unavailable(cause) => Self::Unavailable(cause),
            StorageError::TooSlow(it) => Self::TooSlow(advice(&it)),
            StorageError::Corrupt { .. } | StorageError::Failed(_) => Self::Bug(error.to_string()),
        }
    }
}

/// What a client can do about a list that was given up (decision A17).
fn advice(slow: &TooSlow) -> String {
    let conditions = slow.conditions.join(" and ");
    let what = match slow.conditions.as_slice() {
        [] => "What may be seen of this list is far apart".to_owned(),
        [_] => format!("No index answers {conditions} in this order"),
        _ => format!("No index answers {conditions} together in this order"),
    };
    let cause = match slow.cause {
        SlowCause::OutOfTime => "looking through the rest took too long",
        SlowCause::NoPlace => "other requests of this kind have used up their share for the moment",
    };
    let narrow =
        if slow.conditions.is_empty() { "by a filter".to_owned() } else { format!("or leave out {conditions}") };
    format!("{what}, and {cause}. Narrow {narrow}, or sort by what is filtered.")
}

impl From<NoRandomness> for Error {
    fn from(error: NoRandomness) -> Self {
        Self::Unavailable(error.to_string())
    }
}
