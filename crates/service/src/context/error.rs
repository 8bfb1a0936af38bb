//! The error type of use cases: one closed enum that separates the public reason from the internal cause.

use candor_domain::access::PermissionError;
use candor_domain::idempotency::IdempotencyKey;
use candor_domain::problem::ValidationErrors;
use candor_domain::refusal::DomainError;
use candor_fair_share::TooMuchWaitsError;
use candor_port_clock::RandomnessError;
use candor_port_storage::{SlowListError, StorageError, TooSlowError};
use candor_provisioning::ProvisioningError;
use candor_scim::ScimError;

/// Error of a use case.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The domain refused the request.
    #[error("refused: {0}")]
    Refused(DomainError),
    /// The domain refused a SCIM request.
    #[error("refused: {0}")]
    ScimRefused(Box<ProvisioningError>),
    /// The body cannot be parsed. The message is for the client and gives the position.
    #[error("malformed: {0}")]
    Malformed(String),
    /// `If-Match` names another version.
    #[error("the precondition does not hold")]
    PreconditionFailed,
    /// The idempotency key was used for another request.
    #[error("the idempotency key was used for another request")]
    KeyReused(IdempotencyKey),
    /// Each attempt lost against a concurrent change of the same resource; a retry may succeed.
    #[error("too many concurrent changes of the same resource")]
    Contended,
    /// The store is unavailable; a retry may succeed.
    #[error("not available: {0}")]
    Unavailable(String),
    /// A list without a matching index exceeded its limits. The message is for the client and says which filter
    /// to narrow.
    #[error("too slow: {0}")]
    TooSlow(String),
    /// Too much data of the organization waits to be written into responses; a retry succeeds once this data is sent.
    #[error("too many large responses wait for their turn")]
    TooManyLargeReads,
    /// As many exports as permitted are running; a retry succeeds when one of them has ended.
    #[error("too many exports are running")]
    TooManyExports,
    /// The full-text index is still being built; a later retry succeeds.
    #[error("the full-text index is not complete")]
    NotIndexed,
    /// A defect. The cause is only logged and never reaches a client.
    #[error("failed: {0}")]
    Bug(String),
}

impl From<DomainError> for Error {
    fn from(refusal: DomainError) -> Self {
        Self::Refused(refusal)
    }
}

impl From<ProvisioningError> for Error {
    fn from(refusal: ProvisioningError) -> Self {
        Self::ScimRefused(Box::new(refusal))
    }
}

impl From<ScimError> for Error {
    fn from(error: ScimError) -> Self {
        ProvisioningError::from(error).into()
    }
}

impl From<ValidationErrors> for Error {
    fn from(problems: ValidationErrors) -> Self {
        Self::Refused(DomainError::Invalid(problems))
    }
}

impl From<PermissionError> for Error {
    fn from(denied: PermissionError) -> Self {
        Self::Refused(DomainError::Denied(denied))
    }
}

impl From<StorageError> for Error {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Unavailable(cause) | StorageError::NoRoom(cause) => Self::Unavailable(cause),
            StorageError::TooSlow(it) => Self::TooSlow(advice(&it)),
            StorageError::Corrupt { .. } | StorageError::Failed(_) => Self::Bug(error.to_string()),
        }
    }
}

/// Builds the advice to a client whose list was given up (decision A17).
fn advice(slow: &TooSlowError) -> String {
    let conditions = slow.conditions.join(" and ");
    let what = match slow.conditions.as_slice() {
        [] => "The entries of this list that the key may see are far apart".to_owned(),
        [_] => format!("No index answers {conditions} in this order"),
        _ => format!("No index answers {conditions} together in this order"),
    };
    let cause = match slow.cause {
        SlowListError::OutOfTime => "reading took too long",
        SlowListError::NoPlace => "other slow requests of the organization are still running",
    };
    if let ["group_by" | "window"] = slow.conditions.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        return format!(
            "The request reads every matching entry, and {cause}. Narrow the filters or the time range."
        );
    }
    let narrow =
        if slow.conditions.is_empty() { "by a filter".to_owned() } else { format!("or leave out {conditions}") };
    format!("{what}, and {cause}. Narrow {narrow}, or sort by a filtered field.")
}

impl From<TooMuchWaitsError> for Error {
    fn from(_: TooMuchWaitsError) -> Self {
        Self::TooManyLargeReads
    }
}

impl From<RandomnessError> for Error {
    fn from(error: RandomnessError) -> Self {
        Self::Unavailable(error.to_string())
    }
}
