//! Requests as handlers get them: caller, path identifiers, query and body.

use std::net::IpAddr;

use bytes::Bytes;
use candor_domain::audit::Origin;
use candor_domain::id::{Id, Kind, RequestId};
use candor_domain::json::Object;
use candor_domain::params::Params;
use candor_domain::refusal::DomainError;
use candor_service::{Error, RequestContext};

/// Maximum number of identifiers in one path.
const MAX_CAPTURES: usize = 2;

/// Identifiers in a path, unparsed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Captures<'a>([&'a str; MAX_CAPTURES]);

impl<'a> Captures<'a> {
    /// Returns the first identifier; empty if the path has none.
    pub(crate) const fn first(&self) -> &'a str {
        self.0[0]
    }

    /// Returns copies of the identifiers.
    pub(crate) fn to_texts(self) -> [String; MAX_CAPTURES] {
        self.0.map(str::to_owned)
    }

    /// Creates identifiers from the result of [`Captures::to_texts`].
    pub(crate) fn from_texts(texts: &'a [String; MAX_CAPTURES]) -> Self {
        Self(texts.each_ref().map(String::as_str))
    }

    /// Replaces the placeholders of a pattern with these identifiers.
    pub(crate) fn fill(&self, pattern: &str) -> String {
        let mut captures = self.0.iter();
        let mut path = String::with_capacity(pattern.len());
        for segment in pattern.split('/').skip(1) {
            let is_capture = segment.starts_with('{');
            path.push('/');
            path.push_str(if is_capture { captures.next().copied().unwrap_or_default() } else { segment });
        }
        path
    }

    /// Sets the identifier at this zero-based position.
    pub(crate) fn set(&mut self, position: usize, identifier: &'a str) {
        self.0[position] = identifier;
    }

    /// Returns the second identifier; empty if the path has none.
    pub(crate) const fn second(&self) -> &'a str {
        self.0[1]
    }
}

/// A request with an API key.
pub(crate) struct AuthenticatedRequest<'a> {
    /// The caller and the conditions of the request.
    pub(crate) context: RequestContext,
    /// Identifiers in the path.
    pub(crate) captures: Captures<'a>,
    /// Query parameters after percent-decoding.
    pub(crate) params: Params,
    /// Members of the JSON body.
    pub(crate) body: Object,
    /// CSV body; empty for other requests.
    pub(crate) csv: Bytes,
    /// `true` if the JSON body is so large that the use case runs on blocking threads instead of the HTTP worker.
    pub(crate) is_large: bool,
}

impl AuthenticatedRequest<'_> {
    /// Parses the first identifier in the path. A malformed identifier is answered like an unknown one (decision
    /// A4).
    pub(crate) fn id<K: Kind>(&self) -> Result<Id<K>, Error> {
        self.captures.first().parse().map_err(|_| Error::Refused(DomainError::NotFound))
    }

    /// Parses the second identifier in the path.
    pub(crate) fn second_id<K: Kind>(&self) -> Result<Id<K>, Error> {
        self.captures.second().parse().map_err(|_| Error::Refused(DomainError::NotFound))
    }
}

/// A request without an API key.
pub(crate) struct AnonymousRequest {
    /// Id of the request, as in `X-Request-Id`.
    pub(crate) request: RequestId,
    /// Client's address and user agent.
    pub(crate) origin: Origin,
    /// Address of the client, or `None` if it cannot be read.
    pub(crate) client: Option<IpAddr>,
    /// Value of the cookie of sign-ins.
    pub(crate) cookie: Option<String>,
    /// Members of the JSON body.
    pub(crate) body: Object,
}
