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
    /// Whether it was kept from an earlier request with the same idempotency key.
    pub replayed: bool,
}

impl Reply {
    /// A success with a body.
    #[must_use]
    pub const fn done(body: Bytes, version: Option<Version>) -> Self {
        Self { outcome: Outcome::Done, body, version, replayed: false }
    }

    /// A new resource.
    #[must_use]
    pub const fn created(location: String, body: Bytes, version: Option<Version>) -> Self {
        Self { outcome: Outcome::Created(location), body, version, replayed: false }
    }
}
