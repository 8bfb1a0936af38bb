//! Why a use case did not answer: one closed enum, with the public reason and the internal cause apart.

use candor_domain::access::Denied;
use candor_domain::problem::Problems;
use candor_domain::refusal::Refusal;
use candor_domain::replay::IdempotencyKey;
use candor_port_clock::NoRandomness;
use candor_port_storage::StorageError;

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
            other => Self::Bug(other.to_string()),
        }
    }
}

impl From<NoRandomness> for Error {
    fn from(error: NoRandomness) -> Self {
        Self::Unavailable(error.to_string())
    }
}
