//! Dialects: the forms of bodies, errors, entity tags and paths that clients of a route expect.

use actix_web::http::header::HeaderValue;
use bytes::Bytes;
use candor_domain::id::RequestId;

use super::BASE;
use crate::response::error_response::ErrorResponse;

/// Prefix of the paths of SCIM.
pub(crate) const SCIM_BASE: &str = "/scim/v2";
/// Media type of the bodies of SCIM.
const SCIM_JSON: &str = "application/scim+json";

/// Dialect of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The API below `/v1`.
    V1,
    /// SCIM 2.0 for identity providers, below `/scim/v2` (RFC 7644).
    Scim,
}

impl Dialect {
    /// Returns the dialect of a path. Unknown paths have the dialect of `/v1`.
    pub(crate) fn of_path(path: &str) -> Self {
        let rest = path.strip_prefix(SCIM_BASE);
        if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) { Self::Scim } else { Self::V1 }
    }

    /// Returns the prefix of the paths in the route table. Routes of SCIM have whole paths there, which are also
    /// the labels in metrics.
    #[must_use]
    pub const fn base(self) -> &'static str {
        match self {
            Self::V1 => BASE,
            Self::Scim => "",
        }
    }

    /// Returns the label that metrics give to paths without a route.
    pub(crate) const fn unknown_pattern(self) -> &'static str {
        match self {
            Self::V1 => "unknown",
            Self::Scim => SCIM_BASE,
        }
    }

    /// Returns `true` if `//` and a trailing slash in a path have no meaning. Identity providers append paths to a URL
    /// that an administrator may have entered with a slash.
    pub(crate) const fn ignores_empty_segments(self) -> bool {
        matches!(self, Self::Scim)
    }

    /// Returns the media types of JSON bodies that a request may have. The first one is that of responses.
    #[must_use]
    pub const fn media_types(self) -> &'static [&'static str] {
        match self {
            Self::V1 => &["application/json"],
            Self::Scim => &[SCIM_JSON, "application/json"],
        }
    }

    /// Returns the `Content-Type` of responses.
    pub(crate) const fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(self.media_types()[0])
    }

    /// Returns the form of an entity tag in `ETag`. Tags of SCIM are weak, as in `meta.version`.
    pub(crate) fn entity_tag(self, tag: String) -> String {
        match self {
            Self::V1 => tag,
            Self::Scim => format!("W/{tag}"),
        }
    }

    /// Returns the body of an error response.
    pub(crate) fn error_body(self, error: &ErrorResponse, request: RequestId) -> Bytes {
        match self {
            Self::V1 => error.envelope(request),
            Self::Scim => Bytes::from(error.to_scim().body().to_string()),
        }
    }
}
