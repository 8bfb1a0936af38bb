//! The lines of an access request: all data about one person, with its source (decision H2).

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;
use strum::{IntoStaticStr, VariantArray};

use crate::audit::{Actor, AuditEntry, Changes, Origin};
use crate::fields::string_enum;
use crate::id::{AuditId, ConnectorId, EmployeeId, NotificationId};
use crate::notification::{self, Notification};
use crate::time::Timestamp;

/// Types of data about a person, in the order of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum PersonalDataType {
    /// Record of the person.
    Employee,
    /// Invitation of the person.
    Invitation,
    /// Account of the person at an identity provider.
    ScimAccount,
    /// Account of the person at an identity provider that signs people in.
    IdentityLink,
    /// Issue of a connector about the person.
    SyncIssue,
    /// API key that acts for the person.
    ApiKey,
    /// Observation about the person.
    Observation,
    /// Objective of an employee that the person owns.
    EmployeeObjective,
    /// Objective of a team or the organization that the person owns.
    ManagerObjective,
    /// Check-in that the person wrote, or on an objective that the person owns.
    CheckIn,
    /// Summary about the person.
    Summary,
    /// Request for feedback about the person.
    Assignment,
    /// Conversation in which the person takes part.
    Conversation,
    /// Message that the person wrote.
    Message,
    /// Notification to the person.
    Notification,
    /// Entry of the audit log about the person, about a resource above, or about an action of the person.
    AuditEntry,
}

string_enum!(PersonalDataType, "PersonalDataType");

/// Kinds of sources of personal data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum DataSourceType {
    /// A person who wrote the data.
    Employee,
    /// A connector that sent the data.
    Connector,
    /// An API key of the organization.
    ApiKey,
    /// The service itself, or its operator.
    System,
}

string_enum!(DataSourceType, "DataSourceType");

/// The source of some personal data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline, title = "DataSource")]
pub struct DataSource {
    /// Kind of the source.
    #[serde(rename = "type")]
    kind: DataSourceType,
    /// Id of the source. Null for the service itself.
    id: Option<String>,
}

impl DataSource {
    /// Returns a person as the source.
    #[must_use]
    pub fn from_person(id: EmployeeId) -> Self {
        Self { kind: DataSourceType::Employee, id: Some(id.to_string()) }
    }

    /// Returns a connector as the source.
    #[must_use]
    pub fn from_connector(id: ConnectorId) -> Self {
        Self { kind: DataSourceType::Connector, id: Some(id.to_string()) }
    }

    /// Returns the actor of an audit entry as the source.
    #[must_use]
    pub fn from_actor(actor: &Actor) -> Self {
        use crate::audit::ActorKind;
        let kind = match actor.kind {
            ActorKind::ApiKey => DataSourceType::ApiKey,
            ActorKind::Employee => DataSourceType::Employee,
            ActorKind::Connector => DataSourceType::Connector,
            ActorKind::System => DataSourceType::System,
        };
        Self { kind, id: actor.id.clone() }
    }
}

/// One row of the data about a person, as a line of the response to `GET /employees/{id}/personal-data`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PersonalDataRow<T> {
    /// Type of the data.
    #[serde(rename = "type")]
    pub kind: PersonalDataType,
    /// The data. `type` determines its members.
    #[schemars(schema_with = "row_data")]
    pub data: T,
    /// Source of the data. Null if it is not recorded.
    pub from: Option<DataSource>,
}

fn row_data(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "additionalProperties": {}})
}

/// Actions of the audit log that the person does not learn of (decision H3).
const HIDDEN_ACTIONS: [&str; 2] = ["employee.hold", "employee.release_hold"];
static NO_CHANGES: Changes = Changes::new();
static NO_ORIGIN: Origin = Origin { ip: None, user_agent: None, api_key: None, via: None };

/// An entry of the audit log in the file of a person. What it tells about other people is left out (decision H2).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the members are those of an entry")]
pub struct PersonalAuditEntry<'a> {
    pub id: AuditId,
    pub occurred_at: Timestamp,
    pub action: &'a str,
    pub actor: &'a Actor,
    pub target: PersonalTarget<'a>,
    pub changes: &'a Changes,
    pub comment: Option<&'a str>,
    pub request_id: Option<&'a str>,
    pub context: &'a Origin,
}

/// The resource that an audit entry changed, or that a notification is about. `id` is `None` unless the entry or the
/// notification is about the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the members are those of an entry")]
pub struct PersonalTarget<'a> {
    #[serde(rename = "type")]
    pub kind: &'a str,
    pub id: Option<&'a str>,
}

impl<'a> PersonalAuditEntry<'a> {
    /// Returns the entry as the file of a person shows it, `None` for an entry about a legal hold. An entry that
    /// `is_about` the person has its values. An entry that `is_by` the person has its origin.
    #[must_use]
    pub fn from_entry(entry: &'a AuditEntry, is_about: bool, is_by: bool) -> Option<Self> {
        if HIDDEN_ACTIONS.contains(&entry.action.as_str()) {
            return None;
        }
        Some(Self {
            id: entry.id,
            occurred_at: entry.occurred_at,
            action: &entry.action,
            actor: &entry.actor,
            target: PersonalTarget { kind: &entry.target.kind, id: is_about.then_some(entry.target.id.as_str()) },
            changes: if is_about { &entry.changes } else { &NO_CHANGES },
            comment: entry.comment.as_deref().filter(|_| is_about),
            request_id: entry.request_id.as_deref(),
            context: if is_by { &entry.context } else { &NO_ORIGIN },
        })
    }
}

/// A notification in the file of its recipient. A notification that is not about the recipient has no texts,
/// because the texts are data of other people (decision H2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the members are those of a notification")]
pub struct PersonalNotification<'a> {
    pub id: NotificationId,
    pub recipient_id: EmployeeId,
    #[serde(rename = "type")]
    pub kind: notification::Type,
    pub title: Option<&'a str>,
    pub body: Option<&'a str>,
    pub target: PersonalTarget<'a>,
    pub created_at: Timestamp,
    pub read_at: Option<Timestamp>,
}

impl<'a> PersonalNotification<'a> {
    /// Returns the notification as the file of its recipient shows it.
    #[must_use]
    pub fn from_notification(notification: &'a Notification) -> Self {
        let is_about = notification.kind.is_about_recipient();
        let target = &notification.target;
        Self {
            id: notification.id,
            recipient_id: notification.recipient_id,
            kind: notification.kind,
            title: is_about.then_some(notification.title.as_str()),
            body: is_about.then_some(notification.body.as_str()),
            target: PersonalTarget { kind: &target.kind, id: is_about.then_some(target.id.as_str()) },
            created_at: notification.created_at,
            read_at: notification.read_at,
        }
    }
}

/// The last line of a complete response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PersonalDataEnd {
    /// Type of the line, `end`.
    #[serde(rename = "type")]
    #[schemars(extend("const" = "end"))]
    kind: &'static str,
    /// Number of lines before this one.
    count: u64,
}

impl PersonalDataEnd {
    /// Creates the last line after this number of lines.
    #[must_use]
    pub const fn new(count: u64) -> Self {
        Self { kind: "end", count }
    }
}

/// One line of the response to `GET /employees/{id}/personal-data`. Later versions may have further types of lines.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
#[expect(missing_docs, reason = "each is named after its line")]
pub enum PersonalDataLine {
    Row(PersonalDataRow<Value>),
    End(PersonalDataEnd),
}
