//! Finds ids and the address of an erased person in stored texts.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::ERASED_BODY;
use crate::event::{EventData, EventType};
use crate::id::EmployeeId;
use crate::text::fold_case;

/// Characters besides letters and digits that continue the local part of an address.
const ATOM: &str = "._%+-";
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

/// Ids, e-mail address and names by which stored texts mention an erased person, and the ids that a legal hold keeps.
#[derive(Debug, Clone)]
pub struct Mentions {
    person: EmployeeId,
    ids: RemovedIds,
    kept: RemovedIds,
    email: Option<String>,
    names: Vec<String>,
}

impl Mentions {
    /// Creates the set for a person with these erased resources. `email` is `None` if it is not known any more.
    #[must_use]
    pub fn new(person: EmployeeId, erased: impl IntoIterator<Item = [u8; 16]>, email: Option<&str>) -> Self {
        let ids = erased.into_iter().chain([person.to_bytes()]).collect();
        Self { person, ids, kept: RemovedIds::default(), email: email.map(fold_case), names: vec![] }
    }

    /// Adds names of the person in other systems, such as the user name at an identity provider.
    #[must_use]
    pub fn with_names(self, names: &[String]) -> Self {
        Self { names: names.to_vec(), ..self }
    }

    /// Returns `true` if a message of the service has the address or a name of the person. Messages put names between
    /// backticks.
    #[must_use]
    pub fn names_person(&self, message: &str) -> bool {
        self.has_email(message) || self.names.iter().any(|name| message.contains(&format!("`{name}`")))
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

    /// Returns `true` if the text contains an erased id or the address.
    #[must_use]
    pub fn are_in(&self, text: &str) -> bool {
        let has_id = text
            .match_indices('_')
            .any(|(at, _)| text.get(at + 1..at + 1 + ULID_CHARS).is_some_and(|ulid| self.ids.has_ulid(ulid)));
        has_id || self.has_email(text)
    }

    /// Returns `true` if the text contains the address, in any case.
    #[must_use]
    pub fn has_email(&self, text: &str) -> bool {
        let Some(email) = &self.email else { return false };
        let text = fold_case(text);
        let is_part = |letter: Option<char>, of_domain: bool| {
            letter.is_some_and(|letter| {
                letter.is_alphanumeric() || if of_domain { "-".contains(letter) } else { ATOM.contains(letter) }
            })
        };
        text.match_indices(email.as_str()).any(|(at, found)| {
            let (before, behind) = (&text[..at], &text[at + found.len()..]);
            // A full stop behind the address ends a sentence, unless the domain goes on.
            let text_behind = match behind.strip_prefix('.') {
                Some(rest) if rest.starts_with(char::is_alphanumeric) => rest,
                Some(_) => "",
                None => behind,
            };
            (ends_with_escape(before) || !is_part(before.chars().next_back(), false))
                && !is_part(text_behind.chars().next(), true)
        })
    }
}

/// Returns `true` if a JSON text ends with an escape, such as `\n` or `\u00a0`. Its letters are no part of an address.
fn ends_with_escape(text: &str) -> bool {
    let escape = |length: usize| text.len().checked_sub(length).and_then(|at| text.get(at..));
    let is_short = escape(2).is_some_and(|end| end.starts_with('\\') && end.ends_with(['b', 'f', 'n', 'r', 't']));
    is_short || escape(6).is_some_and(|end| end.starts_with("\\u"))
}

/// Returns the data of an event after the erasure. `None` if the data stays: it was erased before, or the event is
/// not about the person or an erased resource.
///
/// A message of the person, a conversation about the person or an erased resource, and a connector keep their places, so their events
/// lose only the texts. A copy that follows the feed then equals the stored data.
#[must_use]
pub fn erased_event_data(kind: EventType, data: &str, erased: &Mentions) -> Option<String> {
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
        if !erased.has_email(message.as_str()?) {
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
