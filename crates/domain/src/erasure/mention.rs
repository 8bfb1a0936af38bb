//! Finds ids and the address of an erased person in stored texts.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::event::EventType;
use crate::id::EmployeeId;
use crate::text::folded;

/// Length of a ULID in characters.
const ULID_CHARS: usize = 26;

/// The ids of erased resources and the address of the person.
#[derive(Debug, Clone)]
pub struct Mentions {
    person: EmployeeId,
    ids: HashSet<[u8; 16]>,
    email: Option<String>,
}

impl Mentions {
    /// Creates the set for a person with these erased resources. `email` is `None` if it is not known any more.
    #[must_use]
    pub fn new(person: EmployeeId, erased: impl IntoIterator<Item = [u8; 16]>, email: Option<&str>) -> Self {
        let ids = erased.into_iter().chain([person.to_bytes()]).collect();
        Self { person, ids, email: email.map(folded) }
    }

    /// Returns `true` if this is the id of an erased resource or of the person.
    #[must_use]
    pub fn has_id(&self, text: &str) -> bool {
        text.rsplit_once('_').and_then(|(_, ulid)| Self::bytes(ulid)).is_some_and(|id| self.ids.contains(&id))
    }

    /// Returns `true` if the text contains an erased id or the address.
    #[must_use]
    pub fn are_in(&self, text: &str) -> bool {
        let has_id = text.match_indices('_').any(|(at, _)| {
            let ulid = text.get(at + 1..at + 1 + ULID_CHARS);
            ulid.and_then(Self::bytes).is_some_and(|id| self.ids.contains(&id))
        });
        has_id || self.has_email(text)
    }

    /// Returns `true` if the text contains the address, in any case.
    #[must_use]
    pub fn has_email(&self, text: &str) -> bool {
        self.email.as_ref().is_some_and(|email| folded(text).contains(email.as_str()))
    }

    fn bytes(ulid: &str) -> Option<[u8; 16]> {
        Some(crate::ulid::Ulid::from_string(ulid).ok()?.0.to_be_bytes())
    }
}

/// Returns the data of an event after the erasure. `None` if the data stays: it was erased before, or the event is
/// not about the person or an erased resource and has no address of the person. A message counts as the author's.
#[must_use]
pub fn erased_event_data(kind: EventType, data: &str, erased: &Mentions) -> Option<String> {
    let value: Value = serde_json::from_str(data).ok()?;
    if value.get("erased").is_some() {
        return None;
    }
    let has = |member: &str| value.get(member).and_then(Value::as_str).is_some_and(|id| erased.has_id(id));
    let person = erased.person.to_string();
    let is_person = |member: &str| value.get(member).and_then(Value::as_str) == Some(person.as_str());
    let is_pseudonym = kind == EventType::EmployeeErased || kind == EventType::ErasureCompleted;
    let is_theirs = has("id") && !is_pseudonym
        || kind == EventType::ConversationMessageCreated && is_person("author_id")
        || is_person("employee_id") && !is_pseudonym
        || is_person("owner_id")
        || erased.has_email(data);
    is_theirs.then(|| json!({"id": value.get("id"), "erased": true}).to_string())
}
