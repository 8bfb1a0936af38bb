//! Conversations: a few people who write to each other, perhaps about something (decision G).

mod about;
mod change;
mod list;
pub mod message;

pub use about::{About, AboutReference, Type};
pub use change::{Draft, Patch, References};
pub use list::Filter;
pub use message::Message;

use serde::Serialize;

use crate::decision::{Decision, Resource};
use crate::id::{ConversationId, ConversationKind, EmployeeId};
use crate::refusal::Refusal;
use crate::time::Timestamp;
use crate::visibility::LinkedId;

/// The longest title (decision G).
pub const TITLE_CHARS: usize = 200;
/// The fewest people of a conversation (decision G).
pub const MIN_PARTICIPANTS: usize = 2;
/// The most people of a conversation (decision G).
pub const MAX_PARTICIPANTS: usize = 20;

/// A conversation, without its messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// What people call it.
    pub title: String,
    /// What it is about, if that was said.
    pub about: Option<About>,
    /// Who writes and reads in it.
    pub participant_ids: Vec<EmployeeId>,
    /// When the newest message was written; null before the first one. Messages record it: they neither count as changes
    /// of the conversation nor make each other wait for a version of it.
    pub last_message_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed; messages do not count.
    pub updated_at: Timestamp,
    /// When it was archived; null while in use.
    pub archived_at: Option<Timestamp>,
}

impl Resource for Conversation {
    type Kind = ConversationKind;
    const NAME: &'static str = "conversation";

    fn id(&self) -> ConversationId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    /// Messages are recorded and not counted.
    fn mark(&self) -> u64 {
        self.last_message_at.map_or(0, |it| it.millis().unsigned_abs())
    }

    fn linked_ids(&self) -> Vec<LinkedId> {
        self.about.and_then(About::linked_id).into_iter().collect()
    }

    fn retain_linked(&mut self, is_shown: &dyn Fn(LinkedId) -> bool) {
        self.about = self.about.filter(|about| about.linked_id().is_none_or(is_shown));
    }
}

impl Conversation {
    /// When something was last said in it: what it is listed by.
    #[must_use]
    pub fn active_at(&self) -> Timestamp {
        self.last_message_at.unwrap_or(self.created_at)
    }

    /// Puts it away: it takes no more messages and no changes.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] if it is archived already.
    pub fn archive(&self, at: Timestamp) -> Result<Decision<Self>, Refusal> {
        self.must_be_in_use("archive")?;
        let at = at.strictly_after(self.updated_at);
        let state = Self { archived_at: Some(at), updated_at: at, ..self.clone() };
        Ok(Decision::changed(self, state, "conversation.archive", vec![]))
    }

    fn must_be_in_use(&self, attempted: &str) -> Result<(), Refusal> {
        if self.archived_at.is_none() {
            Ok(())
        } else {
            Err(Refusal::transition("archived_at", self.archived_at, attempted))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
