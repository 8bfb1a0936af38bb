//! Finds the id, the addresses and the names of an erased person, and the ids of erased resources, in stored
//! texts.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::ERASED_BODY;
use super::mailbox::{ComparedText, Mailbox};
use crate::event::{EventData, EventType};
use crate::id::EmployeeId;
use crate::json;
use crate::time::Timestamp;

/// Length of a ULID in characters.
const ULID_CHARS: usize = 26;

/// Ids of removed resources.
#[derive(Debug, Clone, Default)]
pub struct RemovedIds(HashSet<[u8; 16]>);

impl FromIterator<[u8; 16]> for RemovedIds {
    fn from_iter<I: IntoIterator<Item = [u8; 16]>>(ids: I) -> Self {
        Self(ids.into_iter().collect())
    }
}

impl RemovedIds {
    /// Returns `true` if the text is one of the ids, with any prefix.
    #[must_use]
    pub fn has(&self, text: &str) -> bool {
        text.rsplit_once('_').is_some_and(|(_, ulid)| self.has_ulid(ulid))
    }

    fn has_ulid(&self, ulid: &str) -> bool {
        crate::ulid::Ulid::from_string(ulid).is_ok_and(|ulid| self.0.contains(&ulid.0.to_be_bytes()))
    }
}

/// Ids, addresses and names by which stored texts mention an erased person, and the ids that a legal hold keeps.
#[derive(Debug, Clone)]
pub struct Mentions {
    person: EmployeeId,
    ids: RemovedIds,
    kept: RemovedIds,
    mailboxes: Vec<Mailbox>,
    names: Vec<ComparedText>,
    names_end_at: Option<Timestamp>,
}

impl Mentions {
    /// Creates the mentions of a person with these erased resources. `email` is `None` if it is not known any
    /// more.
    #[must_use]
    pub fn new(person: EmployeeId, erased: impl IntoIterator<Item = [u8; 16]>, email: Option<&str>) -> Self {
        let ids = erased.into_iter().chain([person.to_bytes()]).collect();
        let mailboxes = email.and_then(Mailbox::new).into_iter().collect();
        Self { person, ids, kept: RemovedIds::default(), mailboxes, names: vec![], names_end_at: None }
    }

    /// Adds names of the person in other systems, such as the user name at an identity provider. Names with an `@` are
    /// compared as addresses, too.
    #[must_use]
    pub fn with_names(mut self, names: &[String]) -> Self {
        self.names.extend(names.iter().map(|name| ComparedText::new(name)));
        for mailbox in names.iter().filter_map(|name| Mailbox::new(name)) {
            if !self.mailboxes.contains(&mailbox) {
                self.mailboxes.push(mailbox);
            }
        }
        self
    }

    /// Sets the time of the newest rows in which addresses and names are compared; `None` for all rows.
    #[must_use]
    pub fn limit_names(self, names_end_at: Option<Timestamp>) -> Self {
        Self { names_end_at, ..self }
    }

    /// Returns `true` if an equal address or name in a row of this time belongs to the person. After the time of
    /// [`Mentions::limit_names`], another person may have got the address or the name.
    #[must_use]
    pub fn own_names_at(&self, at: Timestamp) -> bool {
        self.names_end_at.is_none_or(|end| at <= end)
    }

    /// Returns `true` if a message of the service has an address or a name of the person. Messages put names between
    /// backticks or quotes.
    #[must_use]
    pub fn names_person(&self, message: &str) -> bool {
        if !ComparedText::may_name(message) {
            return false;
        }
        let text = ComparedText::new(message);
        self.mailboxes.iter().any(|mailbox| mailbox.is_in(&text))
            || self.names.iter().any(|name| text.quotes(name))
    }

    /// Returns `true` if a text of a JSON value names the person, as [`Mentions::names_person`] says.
    #[must_use]
    pub fn name_person_in(&self, value: &json::Value) -> bool {
        match value {
            json::Value::Text(text) => self.names_person(text),
            json::Value::List(items) => items.iter().any(|item| self.name_person_in(item)),
            json::Value::Object(members) => members.iter().any(|(_, member)| self.name_person_in(member)),
            json::Value::Null | json::Value::Bool(_) | json::Value::Number(_) => false,
        }
    }

    /// Excludes resources and conversations that a legal hold of another person keeps.
    #[must_use]
    pub fn except(self, kept: impl IntoIterator<Item = [u8; 16]>) -> Self {
        Self { kept: kept.into_iter().collect(), ..self }
    }

    /// Returns `true` if this is the id of a resource or conversation that a legal hold keeps.
    #[must_use]
    pub fn keeps(&self, text: &str) -> bool {
        self.kept.has(text)
    }

    /// Returns `true` if this is the id of an erased resource or of the person.
    #[must_use]
    pub fn has_id(&self, text: &str) -> bool {
        self.ids.has(text)
    }

    /// Returns `true` if a text of this time contains an erased id, or an address that was still the person's at
    /// this time.
    #[must_use]
    pub fn occur_in(&self, text: &str, at: Timestamp) -> bool {
        let has_id = text
            .match_indices('_')
            .any(|(at, _)| text.get(at + 1..at + 1 + ULID_CHARS).is_some_and(|ulid| self.ids.has_ulid(ulid)));
        has_id || (self.own_names_at(at) && self.has_email(text))
    }

    /// Returns `true` if the text contains an address of the person, in any spelling (decision D4).
    #[must_use]
    pub fn has_email(&self, text: &str) -> bool {
        if self.mailboxes.is_empty() || !ComparedText::may_name(text) {
            return false;
        }
        let text = ComparedText::new(text);
        self.mailboxes.iter().any(|mailbox| mailbox.is_in(&text))
    }
}

/// Returns the new data of an event after the erasure; `at` is the time of the event. `None` if the data stays: it
/// was erased before, a legal hold keeps its resource, the event announces an erasure, or the data tells nothing
/// of the person or an erased resource.
///
/// The messages of the person, conversations about the person or an erased resource, and connectors stay stored, so
/// their events lose only the texts. A copy that follows the feed then equals the stored data.
#[must_use]
pub fn erased_event_data(kind: EventType, data: &str, at: Timestamp, erased: &Mentions) -> Option<String> {
    let mut value: Value = serde_json::from_str(data).ok()?;
    if value.get("erased").is_some() {
        return None;
    }
    let has = |member: &str| value.get(member).and_then(Value::as_str).is_some_and(|id| erased.has_id(id));
    let keeps = |member: &str| value.get(member).and_then(Value::as_str).is_some_and(|id| erased.keeps(id));
    if keeps("id") || keeps("conversation_id") {
        return None;
    }
    let person = erased.person.to_string();
    let is_person = |member: &str| value.get(member).and_then(Value::as_str) == Some(person.as_str());
    if matches!(kind, EventType::EmployeeErased | EventType::ErasureCompleted) {
        return None;
    }
    if kind.data() == EventData::Message {
        let has_text = value.get("body").is_some_and(|body| body != ERASED_BODY);
        if !has_text || !is_person("author_id") {
            return None;
        }
        value["body"] = json!(ERASED_BODY);
        return Some(value.to_string());
    }
    if kind.data() == EventData::Connector {
        let message = value.get_mut("last_sync_message")?;
        if !erased.own_names_at(at) || !erased.names_person(message.as_str()?) {
            return None;
        }
        *message = Value::Null;
        return Some(value.to_string());
    }
    let about = value.get("about").and_then(|about| about.get("id")).and_then(Value::as_str);
    if about.is_some_and(|id| erased.has_id(id)) {
        value["title"] = json!(ERASED_BODY);
        value["about"] = Value::Null;
        return Some(value.to_string());
    }
    let is_theirs = has("id") || is_person("employee_id") || is_person("owner_id");
    is_theirs.then(|| json!({"id": value.get("id"), "erased": true}).to_string())
}
