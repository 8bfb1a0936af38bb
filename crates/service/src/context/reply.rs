//! A rendered response.

use bytes::Bytes;
use candor_port_storage::Version;

/// Kind of success of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Status 200 with a body.
    Done,
    /// Status 201, with the id of the new resource, such as `obs_…`.
    Created(String),
    /// Status 202: the work is queued.
    Accepted,
    /// Status 204: the resource is removed, and the response has no body.
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

/// A rendered response. After a change, the body comes from the decided state, not from the stored row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The kind of success.
    pub outcome: Outcome,
    /// JSON text of the response.
    pub body: Bytes,
    /// Version of the resource in the body, for `ETag`; `None` for lists and bodies with inlined resources.
    pub version: Option<Version>,
    /// Digest of the parts of the body that the version does not count, such as a time-dependent status; 0 if
    /// there are none. `ETag` includes it, `If-Match` ignores it.
    pub etag_extra: u64,
    /// `true` if this is the replay of an earlier request with the same idempotency key.
    pub replayed: bool,
    /// Members of the body whose values this request makes, such as a secret. Dry runs show null in their place.
    pub made_members: &'static [&'static str],
    /// New ids in the body that are not ids of rows. Dry runs show null in their place, as for the ids of new rows.
    pub made_ids: Vec<[u8; 16]>,
    /// Value of the cookie that marks the browser of a sign-in; `None` if the response sets no cookie.
    pub browser_cookie: Option<String>,
}

impl Reply {
    const fn new(outcome: Outcome, body: Bytes, version: Option<Version>) -> Self {
        Self {
            outcome,
            body,
            version,
            etag_extra: 0,
            replayed: false,
            made_members: &[],
            made_ids: vec![],
            browser_cookie: None,
        }
    }

    /// Creates a reply with status 200.
    #[must_use]
    pub const fn ok(body: Bytes, version: Option<Version>) -> Self {
        Self::new(Outcome::Done, body, version)
    }

    /// Creates a reply with status 201 for a new resource.
    #[must_use]
    pub const fn created(id: String, body: Bytes, version: Option<Version>) -> Self {
        Self::new(Outcome::Created(id), body, version)
    }

    /// Creates a reply with status 202 for queued work.
    #[must_use]
    pub const fn accepted(body: Bytes) -> Self {
        Self::new(Outcome::Accepted, body, None)
    }

    /// Creates a reply with status 204 for a removed resource.
    #[must_use]
    pub const fn no_content() -> Self {
        Self::new(Outcome::Removed, Bytes::new(), None)
    }

    /// Returns the reply with this value of [`Reply::made_members`].
    #[must_use]
    pub fn with_made_members(self, made_members: &'static [&'static str]) -> Self {
        Self { made_members, ..self }
    }

    /// Returns the reply with this value of [`Reply::made_ids`].
    #[must_use]
    pub fn with_made_ids(self, made_ids: Vec<[u8; 16]>) -> Self {
        Self { made_ids, ..self }
    }

    /// Returns the reply with this value of [`Reply::etag_extra`].
    #[must_use]
    pub fn with_etag_extra(self, etag_extra: u64) -> Self {
        Self { etag_extra, ..self }
    }
}
