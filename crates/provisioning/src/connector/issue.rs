//! Issues of a connector: what a sync could not apply, until it is resolved (decisions G).

use candor_domain::decision::Resource;
use candor_domain::fields::{StringEnum, string_enum};
use candor_domain::id::{ConnectorId, EmployeeId, SyncIssueId, SyncIssueKind};
use candor_domain::page::{Key, SortBy, SortKey, Sortable};
use candor_domain::params::{self, ListRequest, Params};
use candor_domain::time::Timestamp;
use ring::digest::{SHA256, digest};
use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

/// Time for which the resolution of an issue confirms a request, in seconds.
const CONFIRMED_SECONDS: i64 = 7 * 24 * 60 * 60;
/// End of the message of an issue whose confirmation was used.
const USED: &str = " It was confirmed, and the provider has repeated the request.";

/// The kind of an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum IssueKind {
    /// The manager of a person does not exist yet. The issue ends when the manager arrives.
    ManagerPending,
    /// The manager reports to the person. The stored manager stays.
    ReportingCycle,
    /// The manager would put too many managers above a person. The stored manager stays.
    TooDeep,
    /// The department is archived. The stored department stays.
    DepartmentArchived,
    /// The request would have deactivated the last active org admin. It was refused.
    LastAdmin,
    /// Another connector manages the person. The request was refused.
    ManagedElsewhere,
    /// The identifiers of the request belong to several people. The request was refused.
    IdentityConflict,
    /// The request would have taken over an org admin, or a person with another address. It was refused, and is
    /// accepted after this issue was resolved.
    AdoptionUnconfirmed,
}

string_enum!(IssueKind, "SyncIssueKind");

impl IssueKind {
    /// Returns `true` if a request with an issue of this kind was refused. A request with an issue of another kind was
    /// applied except for one attribute.
    #[must_use]
    pub const fn is_refusal(self) -> bool {
        match self {
            Self::ManagerPending | Self::ReportingCycle | Self::TooDeep | Self::DepartmentArchived => false,
            Self::LastAdmin | Self::ManagedElsewhere | Self::IdentityConflict | Self::AdoptionUnconfirmed => true,
        }
    }

    /// Returns `true` if the resolution of an issue of this kind permits the refused request when the provider
    /// repeats it.
    #[must_use]
    pub const fn permits_request(self) -> bool {
        match self {
            Self::ManagerPending
            | Self::ReportingCycle
            | Self::TooDeep
            | Self::DepartmentArchived
            | Self::LastAdmin
            | Self::ManagedElsewhere
            | Self::IdentityConflict => false,
            Self::AdoptionUnconfirmed => true,
        }
    }
}

/// An occurrence of an issue, before it is known whether the issue is open already.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the others say everything")]
pub struct IssueDraft {
    pub kind: IssueKind,
    pub user_name: Option<String>,
    pub external_id: Option<String>,
    /// Person that the request was about, if it is known.
    pub employee_id: Option<EmployeeId>,
    /// The problem, then its remedy or its consequence, as sentences.
    pub message: String,
}

/// A part of a sync that the service could not apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SyncIssue {
    /// Id of the issue, with the prefix `iss_`.
    pub id: SyncIssueId,
    /// Connector that received the request.
    pub connector_id: ConnectorId,
    /// Kind of the issue.
    pub kind: IssueKind,
    /// `userName` of the request. Null if it had none.
    pub user_name: Option<String>,
    /// `externalId` of the request. Null if it had none.
    pub external_id: Option<String>,
    /// Person that the request was about. Null if no person was found.
    pub employee_id: Option<EmployeeId>,
    /// The problem, then its remedy or its consequence, for display.
    pub message: String,
    /// Number of requests with this issue.
    #[schemars(range(min = 1))]
    pub count: u32,
    /// Time of the first request with this issue.
    pub first_occurred_at: Timestamp,
    /// Time of the newest request with this issue.
    pub occurred_at: Timestamp,
    /// Time at which the issue was resolved. Null while it is open.
    pub resolved_at: Option<Timestamp>,
}

impl SyncIssue {
    /// Opens an issue of this kind.
    #[must_use]
    pub fn open(id: SyncIssueId, connector_id: ConnectorId, draft: IssueDraft, at: Timestamp) -> Self {
        let IssueDraft { kind, user_name, external_id, employee_id, message } = draft;
        Self {
            id,
            connector_id,
            kind,
            user_name,
            external_id,
            employee_id,
            message,
            count: 1,
            first_occurred_at: at,
            occurred_at: at,
            resolved_at: None,
        }
    }

    /// Returns the issue after one more occurrence.
    #[must_use]
    pub fn record_occurrence(&self, message: String, at: Timestamp) -> Self {
        let occurred_at = at.max(self.occurred_at);
        Self { message, count: self.count.saturating_add(1), occurred_at, ..self.clone() }
    }

    /// Returns the resolved issue, or `None` if it was resolved before.
    #[must_use]
    pub fn resolve(&self, at: Timestamp) -> Option<Self> {
        self.resolved_at.is_none().then(|| Self { resolved_at: Some(at.max(self.occurred_at)), ..self.clone() })
    }

    /// Returns `true` if an admin resolved this issue within the last 7 days, its resolution permits requests, and
    /// `draft` is the same occurrence at the same connector.
    #[must_use]
    pub fn confirms(&self, connector: ConnectorId, draft: &IssueDraft, at: Timestamp) -> bool {
        self.resolved_at.is_some_and(|resolved| at < resolved.plus_seconds(CONFIRMED_SECONDS))
            && self.kind.permits_request()
            && self.key() == Self::occurrence_key(connector, draft)
    }

    /// Returns `true` if the issue ends when its problem does not occur again. Only a person ends an issue that waits
    /// for a confirmation.
    #[must_use]
    pub fn ends_by_itself(&self) -> bool {
        !self.kind.permits_request()
    }

    /// Returns the issue after its confirmation was used, or `None` if it confirms nothing. The returned issue does
    /// not confirm a further request.
    #[must_use]
    pub fn consume_confirmation(&self) -> Option<Self> {
        let confirms = self.kind.permits_request() && self.resolved_at.is_some();
        let is_used = self.message.ends_with(USED);
        (confirms && !is_used).then(|| Self { message: format!("{}{USED}", self.message), ..self.clone() })
    }

    /// Returns the value by which the open issue of an occurrence is found. Occurrences of one connector and kind
    /// with the same person, `userName` and `externalId` are one issue. If the resolution permits the request, the
    /// message counts too: it says what the resolution permits, and must not change after an admin has read it.
    #[must_use]
    pub fn occurrence_key(connector: ConnectorId, draft: &IssueDraft) -> [u8; 32] {
        let IssueDraft { kind, user_name, external_id, employee_id, message } = draft;
        let identity = if kind.permits_request() {
            serde_json::json!([connector, kind.word(), employee_id, user_name, external_id, message])
        } else {
            serde_json::json!([connector, kind.word(), employee_id, user_name, external_id])
        };
        let mut key = [0; 32];
        key.copy_from_slice(digest(&SHA256, identity.to_string().as_bytes()).as_ref());
        key
    }

    /// Returns [`SyncIssue::occurrence_key`] of this issue while it is open, else `None`.
    #[must_use]
    pub fn open_key(&self) -> Option<[u8; 32]> {
        self.resolved_at.is_none().then(|| self.key())
    }

    fn key(&self) -> [u8; 32] {
        let draft = IssueDraft {
            kind: self.kind,
            user_name: self.user_name.clone(),
            external_id: self.external_id.clone(),
            employee_id: self.employee_id,
            message: self.message.clone(),
        };
        Self::occurrence_key(self.connector_id, &draft)
    }
}

impl Resource for SyncIssue {
    type Kind = SyncIssueKind;

    fn id(&self) -> SyncIssueId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.resolved_at.unwrap_or(self.occurred_at)
    }
}

impl Sortable for SyncIssue {
    const ORDERS_NAME: &'static str = "SyncIssueSort";
    const ORDERS: &'static [SortKey<Self>] =
        &[SortKey::descending_by(SortBy::OccurredAt, |issue| Key::Time(issue.occurred_at))];
}

/// The issues that a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, IntoStaticStr, VariantArray)]
pub enum Resolved {
    /// Shows only open issues.
    #[default]
    #[strum(to_string = "false")]
    No,
    /// Shows only resolved issues.
    #[strum(to_string = "true")]
    Yes,
    /// Open and resolved issues.
    #[strum(to_string = "all")]
    All,
}

string_enum!(Resolved, "ResolvedFilter");

/// The conditions of a list of issues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IssueFilter {
    /// Selects open issues, resolved ones, or both.
    pub resolved: Resolved,
    /// Kind of the issue.
    pub kind: Option<IssueKind>,
}

impl IssueFilter {
    /// Declares and reads the parameters of `GET /connectors/{id}/sync-issues`; a cursor belongs to one connector.
    pub fn read(connector: ConnectorId, params: &mut Params) -> ListRequest<Self, ()> {
        let filter = Self {
            resolved: params
                .one(&params::word(
                    "filter[resolved]",
                    "`false` lists open issues, `true` resolved ones, `all` both. Default: `false`.",
                ))
                .unwrap_or_default(),
            kind: params.one(&params::word("filter[kind]", "Only issues of this kind.")),
        };
        params.list::<SyncIssue, _, _>(&format!("issues of {connector}"), filter, vec![])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ulid::Ulid;

    fn draft() -> IssueDraft {
        IssueDraft {
            kind: IssueKind::ManagerPending,
            user_name: Some("ada".to_owned()),
            external_id: Some("00u1".to_owned()),
            employee_id: Some(EmployeeId::from_ulid(Ulid(3))),
            message: "No person matches the manager.".to_owned(),
        }
    }

    #[test]
    fn occurrence_is_the_open_issue_only_with_equal_identity() {
        let connector = ConnectorId::from_ulid(Ulid(1));
        let time = Timestamp::from_millis(5);
        let issue = SyncIssue::open(SyncIssueId::from_ulid(Ulid(2)), connector, draft(), time);
        let key = |draft: IssueDraft| Some(SyncIssue::occurrence_key(connector, &draft));
        assert_eq!(issue.open_key(), key(IssueDraft { message: "Other words.".to_owned(), ..draft() }));
        for other in [
            IssueDraft { kind: IssueKind::ReportingCycle, ..draft() },
            IssueDraft { user_name: None, ..draft() },
            IssueDraft { user_name: Some("null".to_owned()), ..draft() },
            IssueDraft { external_id: Some("00U1".to_owned()), ..draft() },
            IssueDraft { employee_id: None, ..draft() },
        ] {
            assert_ne!(issue.open_key(), key(other.clone()), "{other:?}");
        }
        assert_ne!(issue.open_key(), Some(SyncIssue::occurrence_key(ConnectorId::from_ulid(Ulid(9)), &draft())));
        assert_eq!(issue.resolve(time).unwrap().open_key(), None);
    }

    #[test]
    fn issue_that_permits_a_request_is_one_for_each_message() {
        let connector = ConnectorId::from_ulid(Ulid(1));
        let time = Timestamp::from_millis(5);
        for kind in IssueKind::VARIANTS.iter().copied() {
            let issue =
                SyncIssue::open(SyncIssueId::from_ulid(Ulid(2)), connector, IssueDraft { kind, ..draft() }, time);
            let other_draft = IssueDraft { kind, message: "Another request.".to_owned(), ..draft() };
            let is_one_issue = issue.open_key() == Some(SyncIssue::occurrence_key(connector, &other_draft));
            assert_eq!(is_one_issue, !kind.permits_request(), "{kind:?}");
            let resolved_issue = issue.resolve(time).unwrap();
            let confirms = |draft: IssueDraft| resolved_issue.confirms(connector, &draft, time);
            assert_eq!(confirms(IssueDraft { kind, ..draft() }), kind.permits_request(), "{kind:?}");
            assert!(!confirms(other_draft), "{kind:?}");
        }
    }

    #[test]
    fn repeated_issue_counts_and_keeps_its_first_time() {
        let [at, later] = [5, 9].map(Timestamp::from_millis);
        let connector = ConnectorId::from_ulid(Ulid(1));
        let issue = SyncIssue::open(SyncIssueId::from_ulid(Ulid(2)), connector, draft(), at);
        let second_issue = issue.record_occurrence("Still unknown.".to_owned(), later);
        assert_eq!((second_issue.count, second_issue.first_occurred_at, second_issue.occurred_at), (2, at, later));
        assert_eq!(second_issue.message, "Still unknown.");
        let resolved_issue = second_issue.resolve(at).unwrap();
        assert_eq!(resolved_issue.resolved_at, Some(later));
        assert_eq!(resolved_issue.resolve(later), None);
    }
}
