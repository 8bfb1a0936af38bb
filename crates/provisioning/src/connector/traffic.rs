//! The newest SCIM requests of a connector, for the administrator who connects a provider.

use candor_domain::decision::Resource;
use candor_domain::id::{ConnectorId, EmployeeId, RequestId, RequestKind};
use candor_domain::page::{Key, SortBy, SortKey, Sortable};
use candor_domain::params::{ListRequest, Params};
use candor_domain::time::Timestamp;
use candor_scim::{CORE, ENTERPRISE};
use schemars::JsonSchema;
use serde::Serialize;

/// Number of newest requests that are kept for each connector and data set.
pub const KEPT_REQUESTS: u32 = 500;
/// Length of the longest stored method, path and user agent, in characters. Longer ones are truncated.
const TEXT_CHARS: usize = 500;
/// Segments of paths that a log entry shows, beside ids.
const PATH_WORDS: [&str; 13] = [
    "scim",
    "v2",
    "Users",
    "Groups",
    "Me",
    "Bulk",
    ".search",
    "ServiceProviderConfig",
    "ResourceTypes",
    "User",
    "Schemas",
    CORE,
    ENTERPRISE,
];

/// A request that a provider sent over SCIM. The bodies of request and response are not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScimRequest {
    /// Id of the request, as in `X-Request-Id` and in the audit log.
    #[serde(rename = "request_id")]
    pub id: RequestId,
    /// Connector of the API key.
    #[serde(skip)]
    pub connector_id: ConnectorId,
    /// Time at which the request arrived.
    pub occurred_at: Timestamp,
    /// Method of the request. `other` for methods that no route has.
    pub method: String,
    /// Path of the request, without the query. `…` replaces the first segment that is neither a word of SCIM nor the
    /// id of a person, and all that follows, because it may be the name of a person.
    pub path: String,
    /// Status of the response.
    pub status: u16,
    /// `scimType` of the error. Null for successful requests and for errors without one.
    pub scim_type: Option<String>,
    /// Time until the response, in milliseconds.
    pub duration_ms: u32,
    /// `User-Agent` of the provider. Null if it sent none.
    pub user_agent: Option<String>,
}

impl ScimRequest {
    /// Returns the entry as it is stored: with long texts truncated, and without names of people.
    #[must_use]
    pub fn truncate_texts(self) -> Self {
        let truncate = |text: String| match text.char_indices().nth(TEXT_CHARS) {
            Some((end, _)) => text[..end].to_owned(),
            None => text,
        };
        let (path, user_agent) = (truncate(without_texts(&self.path)), self.user_agent.map(truncate));
        Self { method: truncate(self.method), path, user_agent, ..self }
    }

    /// Declares and reads the parameters of `GET /connectors/{id}/requests`; a cursor belongs to one connector.
    pub fn read_list(connector: ConnectorId, params: &mut Params) -> ListRequest<(), ()> {
        params.list::<Self, _, _>(&format!("requests of {connector}"), (), vec![])
    }
}

/// Returns a path up to its first segment that is neither a word of SCIM nor the id of a person. `…` replaces the
/// rest, because providers that are set up wrongly send names of people in any place.
fn without_texts(path: &str) -> String {
    let is_known = |segment: &str| {
        segment.is_empty() || PATH_WORDS.contains(&segment) || segment.parse::<EmployeeId>().is_ok()
    };
    let mut known_path = String::new();
    for (number, segment) in path.split('/').enumerate() {
        let separator = if number == 0 { "" } else { "/" };
        if !is_known(segment) {
            return format!("{known_path}{separator}…");
        }
        known_path = format!("{known_path}{separator}{segment}");
    }
    known_path
}

impl Resource for ScimRequest {
    type Kind = RequestKind;
    const NAME: &'static str = "scim_request";

    fn id(&self) -> RequestId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.occurred_at
    }
}

impl Sortable for ScimRequest {
    const ORDERS_NAME: &'static str = "ScimRequestSort";
    const ORDERS: &'static [SortKey<Self>] =
        &[SortKey::descending_by(SortBy::OccurredAt, |request| Key::Time(request.occurred_at))];
}

#[cfg(test)]
mod tests {
    use super::*;
    use ulid::Ulid;

    fn request(path: String) -> ScimRequest {
        ScimRequest {
            id: RequestId::from_ulid(Ulid(1)),
            connector_id: ConnectorId::from_ulid(Ulid(2)),
            occurred_at: Timestamp::from_millis(3),
            method: "GET".to_owned(),
            path,
            status: 200,
            scim_type: None,
            duration_ms: 4,
            user_agent: Some("short".to_owned()),
        }
    }

    #[test]
    fn stored_path_has_ids_of_people_but_no_names() {
        let id = EmployeeId::from_ulid(Ulid(7));
        for (path, stored) in [
            (format!("/scim/v2/Users/{id}"), format!("/scim/v2/Users/{id}")),
            ("/scim/v2/Users/anna@example.com".to_owned(), "/scim/v2/Users/…".to_owned()),
            ("/scim/v2/Users/anna%40example.com/x".to_owned(), "/scim/v2/Users/…".to_owned()),
            (format!("/scim/v2/Users/{id}/anna"), format!("/scim/v2/Users/{id}/…")),
            ("/scim/v2/Groups/Anna".to_owned(), "/scim/v2/Groups/…".to_owned()),
            ("/scim/v2/anna@example.com/Users".to_owned(), "/scim/v2/…".to_owned()),
            ("/scim/v2/Schemas/urn:anna".to_owned(), "/scim/v2/Schemas/…".to_owned()),
            (format!("/scim/v2/Schemas/{CORE}"), format!("/scim/v2/Schemas/{CORE}")),
            ("/scim/v2/ResourceTypes/User".to_owned(), "/scim/v2/ResourceTypes/User".to_owned()),
            ("/scim/v2/Users/".to_owned(), "/scim/v2/Users/".to_owned()),
            ("/scim/v2/Schemas".to_owned(), "/scim/v2/Schemas".to_owned()),
        ] {
            assert_eq!(request(path).truncate_texts().path, stored);
        }
    }

    #[test]
    fn long_texts_of_a_request_are_truncated() {
        let long_request =
            ScimRequest { method: "é".repeat(TEXT_CHARS + 1), ..request("/".repeat(TEXT_CHARS + 1)) };
        let bounded_request = long_request.truncate_texts();
        assert_eq!(bounded_request.path.chars().count(), TEXT_CHARS);
        assert_eq!(bounded_request.method.chars().count(), TEXT_CHARS);
        assert_eq!(bounded_request.user_agent.as_deref(), Some("short"));
    }
}
