//! The audit log: the actor, the resource and the members that a change altered (decisions G).

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::decision::Resource;
use crate::fields::string_enum;
use crate::id::{AuditId, ConnectorId, Id, IdentityProviderId, KeyKind, RequestKind};
use crate::page::{Key, SortBy, SortKey, Sortable};
use crate::params::{self, Bounds, ListRequest, Params};
use crate::schema::without_member;
use crate::time::Timestamp;

mod access;
mod actions;
mod changes;
mod hidden;

pub use actions::ACTIONS;
pub use changes::{Change, Changes, Side, TEXT_BYTES, VALUE_BYTES, difference, narrow};

/// The part of an audit entry that a decision knows; the actor and the request are added at commit time.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditDraft {
    /// Resource and action, such as `observation.archive`.
    pub action: &'static str,
    /// The resource that the action changed.
    pub target: Target,
    /// Members with a different value after the change.
    pub changes: Changes,
    /// Remark that the actor entered.
    pub comment: Option<String>,
}

/// The resource that an action changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline, title = "Target")]
pub struct Target {
    /// Kind of resource, for example `observation`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Id of the changed resource.
    pub id: String,
}

/// The kinds of actors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ActorKind {
    /// A request with an API key.
    ApiKey,
    /// A person, e.g. by accepting an invitation.
    Employee,
    /// An HR system's connector.
    Connector,
    /// The service itself, or its operator.
    System,
}

string_enum!(ActorKind, "ActorType");

/// The actor of an audit entry, with a name that stays readable after the actor is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline, title = "Actor")]
pub struct Actor {
    /// Kind of the actor.
    #[serde(rename = "type")]
    pub kind: ActorKind,
    /// Id of the actor. Null for the service itself.
    pub id: Option<String>,
    /// Name of the actor at the time of the action.
    pub name: String,
}

impl Actor {
    /// Creates the actor for changes that the service makes itself.
    #[must_use]
    pub fn system(name: &str) -> Self {
        Self { kind: ActorKind::System, id: None, name: name.to_owned() }
    }
}

/// The API key of a request whose actor is a connector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct KeyUsed {
    /// Id of the key, with the prefix `key_`.
    #[schemars(with = "Id<KeyKind>")]
    pub id: String,
    /// Name of the key at the time of the action.
    pub name: String,
}

/// The client that sent a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Origin {
    /// Client address of the request, if known.
    pub ip: Option<String>,
    /// `User-Agent` of the client.
    pub user_agent: Option<String>,
    /// API key of a CSV upload or a SCIM request for a connector. The actor of such an entry is the connector.
    /// Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "KeyUsed")]
    pub api_key: Option<KeyUsed>,
    /// Identity provider whose bearer token authenticated the request. Absent for all other requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Via")]
    pub via: Option<Via>,
}

/// The identity provider whose bearer token sent a request. The actor of such an entry is the person of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Via {
    /// Id of the identity provider, with the prefix `idp_`.
    pub identity_provider_id: IdentityProviderId,
}

/// An entry of the audit log. Written with the change and never altered.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AuditEntry {
    /// Id of the audit entry, with the prefix `aud_`.
    pub id: AuditId,
    /// Time of the action.
    pub occurred_at: Timestamp,
    /// Action, for example `observation.archive`.
    pub action: String,
    /// Actor who performed the action.
    pub actor: Actor,
    /// Resource that the action changed.
    pub target: Target,
    /// Changed members by name. Secrets never appear.
    pub changes: Changes,
    /// Comment, outcome or reason of the request.
    pub comment: Option<String>,
    /// Id of the request. Null if the service acted without a request.
    #[schemars(with = "Option<Id<RequestKind>>")]
    pub request_id: Option<String>,
    /// Origin of the request.
    pub context: Origin,
}

/// An entry as the history of its resource shows it: without the context (decision C9).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the members are those of an entry")]
pub struct HistoryEntry<'a> {
    pub id: AuditId,
    pub occurred_at: Timestamp,
    pub action: &'a str,
    pub actor: &'a Actor,
    pub target: &'a Target,
    pub changes: &'a Changes,
    pub comment: Option<&'a str>,
    pub request_id: Option<&'a str>,
}

impl JsonSchema for HistoryEntry<'_> {
    fn schema_name() -> Cow<'static, str> {
        "HistoryEntry".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        without_member(AuditEntry::json_schema(generator), "context")
    }
}

impl AuditEntry {
    /// Makes a connector the actor. The API key that was the actor is named in the context.
    pub fn act_as(&mut self, connector: ConnectorId, hris_source: &str) {
        let (id, name) = (Some(connector.to_string()), hris_source.to_owned());
        let key = std::mem::replace(&mut self.actor, Actor { kind: ActorKind::Connector, id, name });
        let key_id = key.id.filter(|_| key.kind == ActorKind::ApiKey);
        self.context.api_key = key_id.map(|id| KeyUsed { id, name: key.name });
    }

    /// Returns the entry without its values: who did what, when and to what.
    #[must_use]
    pub fn without_values(&self) -> Self {
        Self { changes: Changes::new(), comment: None, ..self.clone() }
    }

    /// Returns the entry as the history of its resource shows it.
    #[must_use]
    pub fn in_history(&self) -> HistoryEntry<'_> {
        HistoryEntry {
            id: self.id,
            occurred_at: self.occurred_at,
            action: &self.action,
            actor: &self.actor,
            target: &self.target,
            changes: &self.changes,
            comment: self.comment.as_deref(),
            request_id: self.request_id.as_deref(),
        }
    }
}

impl AuditDraft {
    /// Creates an entry for a resource, without changed members.
    #[must_use]
    pub fn new<T: Resource>(state: &T, action: &'static str) -> Self {
        let target = Target { kind: T::NAME.to_owned(), id: state.id().to_string() };
        Self { action, target, changes: Changes::new(), comment: None }
    }

    /// Records the members that differ between `before` and `after`, except `updated_at`, which every change sets.
    #[must_use]
    pub fn with_changes<T: Serialize>(mut self, before: &T, after: &T) -> Self {
        self.changes = difference(before, after);
        self.changes.remove("updated_at");
        self
    }

    /// Sets the remark that the actor entered.
    #[must_use]
    pub fn with_comment(mut self, comment: Option<String>) -> Self {
        self.comment = comment;
        self
    }
}

/// The conditions of a list of audit entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Id of the changed resource.
    pub target_id: Option<String>,
    /// Id of the actor.
    pub actor_id: Option<String>,
    /// Any of these actions; empty for all.
    pub actions: Vec<String>,
    /// Inclusive bounds of the time of the change.
    pub occurred_at: Bounds<Timestamp>,
}

impl Filter {
    /// Declares and reads the parameters of `GET /audit-log`.
    pub fn read(params: &mut Params) -> ListRequest<Self, ()> {
        let filter = Self {
            target_id: params
                .one(&params::any("filter[target_id]", "Only entries about the resource with this id.")),
            actor_id: params.one(&params::any("filter[actor_id]", "Only entries of the actor with this id.")),
            actions: params.many(&params::any(
                "filter[action]",
                "Only entries with this action, for example `observation.archive`. The whole text is compared.",
            )),
            occurred_at: params
                .bounds(&params::datetime("filter[occurred_at]", "Only entries of actions within the bounds.")),
        };
        params.list::<AuditEntry, _, _>("audit-log", filter, vec![])
    }
}

impl Sortable for AuditEntry {
    const ORDERS_NAME: &'static str = "AuditEntrySort";
    const ORDERS: &'static [SortKey<Self>] =
        &[SortKey::descending_by(SortBy::OccurredAt, |entry| Key::Time(entry.occurred_at))];
}
