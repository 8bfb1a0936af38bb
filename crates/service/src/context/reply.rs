//! A rendered answer.

use bytes::Bytes;
use candor_port_storage::Version;

/// What kind of success it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// 200
    Done,
    /// 201, with the id of the new resource, such as `obs_…`.
    Created(String),
    /// 202: it is going to be done.
    Accepted,
    /// 204: it is gone, and there is nothing to show of it.
    Removed,
}

impl Outcome {
    /// Returns the status and the id of the new resource, as they are stored for retries.
    pub(crate) fn to_stored(&self) -> (u16, &str) {
        match self {
            Self::Done => (200, ""),
            Self::Created(id) => (201, id),
            Self::Accepted => (202, ""),
            Self::Removed => (204, ""),
        }
    }

    /// Restores the outcome from its stored form.
    pub(crate) fn from_stored(status: u16, id: &str) -> Self {
        match status {
            // Replies of version 0.1.0 have the whole path, whose last segment is the id.
            201 => Self::Created(id.rsplit('/').next().unwrap_or(id).to_owned()),
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
    /// Digest of parts of the body that the version does not count, such as a status that depends on the time; 0 if there
    /// are none. `ETag` includes it, `If-Match` ignores it.
    pub etag_extra: u64,
    /// Whether it was kept from an earlier request with the same idempotency key.
    pub replayed: bool,
}

impl Reply {
    const fn of(outcome: Outcome, body: Bytes, version: Option<Version>) -> Self {
        Self { outcome, body, version, etag_extra: 0, replayed: false }
    }

    /// A success with a body.
    #[must_use]
    pub const fn done(body: Bytes, version: Option<Version>) -> Self {
        Self::of(Outcome::Done, body, version)
    }

    /// A new resource.
    #[must_use]
    pub const fn created(id: String, body: Bytes, version: Option<Version>) -> Self {
        Self::of(Outcome::Created(id), body, version)
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

    /// Sets the digest of the parts that the version does not count.
    #[must_use]
    pub fn with_etag_extra(self, etag_extra: u64) -> Self {
        Self { etag_extra, ..self }
    }
}
