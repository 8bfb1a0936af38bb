//! The audit log: who did what to which resource, and what it changed (decisions G).

use std::collections::BTreeMap;

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::decision::Resource;
use crate::fields::Word;
use crate::id::AuditId;
use crate::page::{Key, Listed, Order, SortBy};
use crate::params::{self, Bounds, ListRequest, Params};
use crate::problem::Problems;
use crate::time::Timestamp;

/// What a decision wants written down; who asked for it is added when it is carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditDraft {
    /// `resource.action`, e.g. `observation.archive`.
    pub action: &'static str,
    /// What it was done to.
    pub target: Target,
    /// The members that differ.
    pub changes: Changes,
    /// A remark of the person who did it.
    pub comment: Option<String>,
}

/// The members of a resource that a change touched, by name.
pub type Changes = BTreeMap<String, Change>;

/// One member before and after.
#[derive(Debug, Clone, PartialEq, Serialize, serde::Deserialize)]
pub struct Change {
    /// Before.
    pub from: serde_json::Value,
    /// After.
    pub to: serde_json::Value,
}

/// What an action was done to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Target {
    /// The resource's singular.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its id.
    pub id: String,
}

/// Who did it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
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

impl Word for ActorKind {
    const NAME: &'static str = "ActorType";
}

/// Who did it, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Actor {
    /// What kind of actor.
    #[serde(rename = "type")]
    pub kind: ActorKind,
    /// Its id; null for the service itself.
    pub id: Option<String>,
    /// Its name at that time.
    pub name: String,
}

impl Actor {
    /// The service itself.
    #[must_use]
    pub fn system(name: &str) -> Self {
        Self { kind: ActorKind::System, id: None, name: name.to_owned() }
    }
}

/// The API key of a request whose actor is somebody else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyUsed {
    /// Its id.
    pub id: String,
    /// Its name at that time.
    pub name: String,
}

/// Where a request came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The client's address.
    pub ip: Option<String>,
    /// What the client called itself.
    pub user_agent: Option<String>,
    /// The key that it came with, where the actor is the connector that the key uploaded for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<KeyUsed>,
}

/// One entry; appended with its change, never altered.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditEntry {
    /// Its id.
    pub id: AuditId,
    /// When.
    pub occurred_at: Timestamp,
    /// `resource.action`.
    pub action: String,
    /// Who.
    pub actor: Actor,
    /// To what.
    pub target: Target,
    /// The members that differ.
    pub changes: Changes,
    /// A remark.
    pub comment: Option<String>,
    /// The request that asked for it.
    pub request_id: Option<String>,
    /// Where that came from.
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

impl AuditEntry {
    /// The entry as the history of its resource shows it.
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
    /// An entry about a resource, without changes.
    #[must_use]
    pub fn of<T: Resource>(state: &T, action: &'static str) -> Self {
        let target = Target { kind: T::NAME.to_owned(), id: state.id().to_string() };
        Self { action, target, changes: Changes::new(), comment: None }
    }

    /// Lists the members that differ; `updated_at` always does and says nothing.
    #[must_use]
    pub fn with_changes<T: Serialize>(mut self, before: &T, after: &T) -> Self {
        self.changes = difference(before, after);
        self.changes.remove("updated_at");
        self
    }

    /// Adds the remark of whoever did it.
    #[must_use]
    pub fn with_comment(mut self, comment: Option<String>) -> Self {
        self.comment = comment;
        self
    }
}

/// The members of two JSON objects that are not equal.
#[must_use]
pub fn difference(before: &impl Serialize, after: &impl Serialize) -> Changes {
    let (mut before, after) = (members(before), members(after));
    let mut changes = Changes::new();
    for (name, to) in after {
        let from = before.remove(&name).unwrap_or_default();
        if from != to {
            changes.insert(name, Change { from, to });
        }
    }
    for (name, from) in before {
        changes.insert(name, Change { from, to: serde_json::Value::Null });
    }
    changes
}

fn members(of: &impl Serialize) -> serde_json::Map<String, serde_json::Value> {
    let json = serde_json::to_value(of);
    debug_assert!(matches!(json, Ok(serde_json::Value::Object(_))), "only JSON objects have members: {json:?}");
    match json {
        Ok(serde_json::Value::Object(members)) => members,
        Ok(_) | Err(_) => serde_json::Map::new(),
    }
}

/// Which entries of the log are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// About this resource.
    pub target_id: Option<String>,
    /// By this actor.
    pub actor_id: Option<String>,
    /// Any of these actions; empty = all.
    pub actions: Vec<String>,
    /// Within these bounds.
    pub occurred_at: Bounds<Timestamp>,
}

impl Filter {
    /// The parameters of `GET /audit-log`.
    pub fn read(params: &mut Params) -> ListRequest<Self, ()> {
        let filter = Self {
            target_id: params.one(&params::any("filter[target_id]", "Only entries about the resource with this id.")),
            actor_id: params.one(&params::any("filter[actor_id]", "Only entries of the actor with this id.")),
            actions: params.many(&params::any(
                "filter[action]",
                "Only entries with this action, for example `observation.archive`. The whole text is compared.",
            )),
            occurred_at: params
                .bounds(&params::datetime("filter[occurred_at]", "Only entries whose time is within the bounds.")),
        };
        params.list::<AuditEntry, _, _>("audit-log", filter, vec![])
    }

    /// Reads the parameters of `GET /audit-log`.
    ///
    /// # Errors
    /// Every parameter that is wrong.
    pub fn parse(mut params: Params) -> Result<ListRequest<Self, ()>, Problems> {
        let request = Self::read(&mut params);
        params.finish(request)
    }
}

impl Listed for AuditEntry {
    const ORDERS_NAME: &'static str = "AuditEntrySort";
    const ORDERS: &'static [Order<Self>] = &[Order {
        by: SortBy::OccurredAt,
        key: |it| Key::Time(it.occurred_at),
        words: &["-occurred_at", "occurred_at"],
    }];
}
