//! A rendered answer.

use bytes::Bytes;
use candor_port_storage::Version;

/// What kind of success it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// 200
    Done,
    /// 201, with the path of the new resource below the API's base, e.g. `/observations/obs_…`.
    Created(String),
    /// 202: it is going to be done.
    Accepted,
    /// 204: it is gone, and there is nothing to show of it.
    Removed,
}

impl Outcome {
    /// The status, and the path of what is new, as they are kept for retries.
    pub(crate) fn kept(&self) -> (u16, &str) {
        match self {
            Self::Done => (200, ""),
            Self::Created(path) => (201, path),
            Self::Accepted => (202, ""),
            Self::Removed => (204, ""),
        }
    }

    /// What was kept.
    pub(crate) fn of_kept(status: u16, path: String) -> Self {
        match status {
            201 => Self::Created(path),
            202 => Self::Accepted,
            204 => Self::Removed,
            _ => Self::Done,
        }
    }
}

/// A rendered answer. Nothing in it was made up by the store: the body was rendered from the decided state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The kind of success.
    pub outcome: Outcome,
    /// The JSON body.
    pub body: Bytes,
    /// The version of the one resource in the body, for `ETag`; absent on lists and where something is inlined.
    pub version: Option<Version>,
    /// What the body shows beside what the version counts, as a number that is another one when that changes; 0 where
    /// there is nothing of the kind. `ETag` has it too, `If-Match` does not ask for it.
    pub mark: u64,
    /// Whether it was kept from an earlier request with the same idempotency key.
    pub replayed: bool,
}

impl Reply {
    const fn of(outcome: Outcome, body: Bytes, version: Option<Version>) -> Self {
        Self { outcome, body, version, mark: 0, replayed: false }
    }

    /// A success with a body.
    #[must_use]
    pub const fn done(body: Bytes, version: Option<Version>) -> Self {
        Self::of(Outcome::Done, body, version)
    }

    /// A new resource.
    #[must_use]
    pub const fn created(location: String, body: Bytes, version: Option<Version>) -> Self {
        Self::of(Outcome::Created(location), body, version)
    }

    /// Something that is going to be done.
    #[must_use]
    pub const fn accepted(body: Bytes) -> Self {
        Self::of(Outcome::Accepted, body, None)
    }

    /// Something that is gone.
    #[must_use]
    pub const fn removed() -> Self {
        Self::of(Outcome::Removed, Bytes::new(), None)
    }

    /// The same, with what it shows beside what its version counts.
    #[must_use]
    pub fn marked(self, mark: u64) -> Self {
        Self { mark, ..self }
    }
}
