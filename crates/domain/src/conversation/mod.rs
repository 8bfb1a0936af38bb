//! Conversations: a few people who write messages to each other, with an optional subject (decision G).

mod about;
mod change;
mod joins;
mod list;
pub mod message;

pub use about::{About, AboutReference, Type};
pub use change::{Draft, Patch, References};
pub use joins::Joins;
pub use list::Filter;
pub use message::Message;

use schemars::JsonSchema;
use serde::Serialize;

use crate::content::{content, required};
use crate::decision::{Decision, Resource, identity};
use crate::event::EventType;
use crate::id::{ConversationId, ConversationKind, EmployeeId};
use crate::refusal::{DomainError, must_be_active};
use crate::rule;
use crate::time::Timestamp;
use crate::visibility::LinkedId;

/// Maximum length of a title, in characters (decision G).
pub const TITLE_CHARS: usize = 200;
/// Minimum number of participants (decision G).
pub const MIN_PARTICIPANTS: usize = 2;
/// Maximum number of participants (decision G).
pub const MAX_PARTICIPANTS: usize = 20;

content! {
    pub struct Content;
    pub struct ContentPatch;

    /// A conversation, without its messages.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Conversation {
        /// Id of the conversation, with the prefix `cnv_`.
        pub id: ConversationId,
        /// Title. It must not be blank.
        pub title: String => set by required(rule::text(1..=TITLE_CHARS)),
        /// Resource that the conversation is about. Null if there is none or the key cannot see it.
        pub about: Option<About>,
        /// Ids of the participants.
        pub participant_ids: Vec<EmployeeId>,
        /// Time of the newest message. Null if there is none.
        pub last_message_at: Option<Timestamp>,
        /// Time of creation, which never changes.
        pub created_at: Timestamp,
        /// Time of the last change. Messages do not count as changes.
        pub updated_at: Timestamp,
        /// Archive time. Null if it is not archived.
        pub archived_at: Option<Timestamp>,
        /// Times from which people who were added see messages.
        #[serde(skip)]
        pub joins: Joins,
    }
}

impl Resource for Conversation {
    identity!(ConversationKind);

    /// Returns the time of the newest message for the `ETag`, because a message does not change the version.
    fn mark(&self) -> u64 {
        self.last_message_at.map_or(0, |at| at.millis().unsigned_abs())
    }

    fn linked_ids(&self) -> Vec<LinkedId> {
        self.about.and_then(About::linked_id).into_iter().collect()
    }

    fn retain_linked(&mut self, is_shown: &dyn Fn(LinkedId) -> bool) {
        self.about = self.about.filter(|about| about.linked_id().is_none_or(is_shown));
    }
}

impl Conversation {
    /// Returns the time of the last activity, by which conversations are listed.
    #[must_use]
    pub fn active_at(&self) -> Timestamp {
        self.last_message_at.unwrap_or(self.created_at)
    }

    /// Archives the conversation, which then takes no messages and no changes.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the conversation is already archived.
    pub fn archive(&self, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        must_be_active(self.archived_at, "archive")?;
        let archived_at = at.strictly_after(self.updated_at);
        let state = Self { archived_at: Some(archived_at), updated_at: archived_at, ..self.clone() };
        Ok(Decision::for_change(self, state, "conversation.archive", vec![EventType::ConversationArchived]))
    }
}

#[cfg(test)]
pub(crate) mod tests;
