//! Replies to dry runs: what a change would do, found without carrying it out (decision A18).

use std::collections::{BTreeMap, BTreeSet};

use candor_domain::access::Tenant;
use candor_domain::event::EventType;
use candor_domain::fields::StringEnum;
use candor_domain::json;
use candor_domain::ulid::Ulid;
use candor_port_storage::{ChangeSet, Write};
use serde::Serialize;

use crate::change::ChangePlan;
use crate::change::commit::unless_overtaken;
use crate::context::error::Error;
use crate::context::reply::{Outcome, Reply};
use crate::context::services::{Services, render};

/// The body of a reply to a dry run.
#[derive(Serialize)]
struct Effects<'a> {
    dry_run: bool,
    status: u16,
    data: json::Value,
    events: Vec<&'static str>,
    changes: BTreeMap<&'a str, MemberChange<'a>>,
    notifications: usize,
}

#[derive(Serialize)]
struct MemberChange<'a> {
    from: &'a json::Value,
    to: json::Value,
}

impl Services {
    /// Checks a plan against the stored rows and describes its effects. Returns `None` if another change came
    /// first.
    ///
    /// # Errors
    /// Errors of the store; [`Error::Bug`] if the planned reply is not JSON.
    pub(crate) async fn preview(&self, tenant: Tenant, plan: ChangePlan) -> Result<Option<Reply>, Error> {
        let (change, reply) = match plan {
            ChangePlan::Unchanged(reply) => return effects(None, &reply).map(Some),
            ChangePlan::Commit(change, reply) => (change, reply),
        };
        let check = unless_overtaken(self.store.check(tenant, &change).await)?;
        check.map(|()| effects(Some(&change), &reply)).transpose()
    }
}

/// Describes a change with the reply that it would have. `change` is `None` if the request changes nothing.
fn effects(change: Option<&ChangeSet>, reply: &Reply) -> Result<Reply, Error> {
    let mut ids = change.map(new_ids).unwrap_or_default();
    ids.extend(&reply.made_ids);
    let new_values = MadeValues { ids, members: reply.made_members };
    let (status, _) = reply.outcome.to_stored();
    let data = match reply.outcome {
        Outcome::Removed => json::Value::Null,
        Outcome::Done | Outcome::Created(_) | Outcome::Accepted => {
            let body = json::parse(&reply.body).map_err(|error| Error::Bug(error.to_string()))?;
            new_values.without_members(body)
        }
    };
    let mut changes = BTreeMap::new();
    for (name, member) in change.iter().flat_map(|change| &change.audit.changes) {
        let to = if new_values.members.contains(&name.as_str()) {
            json::Value::Null
        } else {
            new_values.without_ids(member.to.clone())
        };
        changes.insert(name.as_str(), MemberChange { from: &member.from, to });
    }
    let events =
        change.iter().flat_map(|change| &change.events).map(|event| EventType::word(event.kind)).collect();
    let notifications = change.map_or(0, |change| change.notices.len());
    let body = render(&Effects { dry_run: true, status, data, events, changes, notifications })?;
    Ok(Reply::ok(body, None))
}

/// Returns the ids of the rows that a change set adds.
fn new_ids(change: &ChangeSet) -> BTreeSet<[u8; 16]> {
    let rows = change.writes.iter().filter_map(|write| match write {
        Write::Put(row) | Write::PutReporting { row, .. } => Some(row),
        Write::NotificationsRead(..)
        | Write::MessageAdded(..)
        | Write::StreakReset(_)
        | Write::FailingReported(_)
        | Write::WebhookRemoved(..)
        | Write::Enqueue(_)
        | Write::Removed(..)
        | Write::Erase(_)
        | Write::BringForward(..) => None,
    });
    rows.filter(|row| row.version_read().is_none()).map(|row| row.id()).collect()
}

/// Values that each run of a change creates, such as ids and secrets. A dry run shows null in their place, because the
/// real change would create different ones.
struct MadeValues {
    /// Ids of new rows, and new ids within them.
    ids: BTreeSet<[u8; 16]>,
    /// Members of the body whose value is new, such as a secret.
    members: &'static [&'static str],
}

impl MadeValues {
    fn without_members(&self, body: json::Value) -> json::Value {
        let json::Value::Object(members) = body else { return self.without_ids(body) };
        let member = |(name, value): (String, json::Value)| {
            let is_made = self.members.contains(&name.as_str());
            (name, if is_made { json::Value::Null } else { self.without_ids(value) })
        };
        json::Value::Object(members.into_iter().map(member).collect())
    }

    fn without_ids(&self, value: json::Value) -> json::Value {
        match value {
            json::Value::Text(text) if self.is_new_id(&text) => json::Value::Null,
            json::Value::List(items) => {
                json::Value::List(items.into_iter().map(|item| self.without_ids(item)).collect())
            }
            json::Value::Object(members) => json::Value::Object(
                members.into_iter().map(|(name, member)| (name, self.without_ids(member))).collect(),
            ),
            json::Value::Null | json::Value::Bool(_) | json::Value::Number(_) | json::Value::Text(_) => value,
        }
    }

    fn is_new_id(&self, text: &str) -> bool {
        let ulid = text.rsplit_once('_').and_then(|(_, ulid)| Ulid::from_string(ulid).ok());
        ulid.is_some_and(|ulid| self.ids.contains(&ulid.0.to_be_bytes()))
    }
}
