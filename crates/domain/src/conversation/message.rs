//! Messages of a conversation, which never change (decision G).

use schemars::JsonSchema;
use serde::Serialize;

use super::Conversation;
use crate::access::{Caller, PermissionError};
use crate::audit::Target;
use crate::decision::{Decision, Resource};
use crate::event::EventType;
use crate::fields::{Fields, Reference};
use crate::id::{ConversationId, EmployeeId, EmployeeKind, MessageId, MessageKind};
use crate::json::Object;
use crate::notification::{self, Notice, Recipients, excerpt};
use crate::page::{Key, SortBy, SortKey, Sortable};
use crate::params::{self, Bounds, ListRequest, Params};
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::refusal::{DomainError, must_be_active};
use crate::rule::{self, Field, ReferenceRule, Text};
use crate::time::Timestamp;

/// Maximum length of a message, in characters (decision G).
pub const BODY_CHARS: usize = 4000;

const READ_ONLY: &[&str] = &["id", "conversation_id", "created_at"];

const AUTHOR: Field<ReferenceRule<EmployeeKind>> = Field::with_about(
    "author_id",
    rule::reference(),
    "A key that acts for a person may omit it; another person returns 403. Required for all other keys.",
);
const BODY: Field<Text> = Field::new("body", rule::text(1..=BODY_CHARS));

/// A message of a conversation. Immutable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Message {
    /// Id of the message, with the prefix `msg_`.
    pub id: MessageId,
    /// Conversation of the message.
    pub conversation_id: ConversationId,
    /// Author of the message.
    pub author_id: EmployeeId,
    /// Plain text that is not blank.
    pub body: String,
    /// Time of the message.
    pub created_at: Timestamp,
}

impl Resource for Message {
    type Kind = MessageKind;

    fn id(&self) -> MessageId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.created_at
    }
}

/// The body of a new message, validated by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    author: Reference<EmployeeKind>,
    body: String,
}

impl Draft {
    /// Returns the id of the author, or `None` if its form is not valid.
    #[must_use]
    pub const fn author(&self) -> Option<EmployeeId> {
        self.author.id
    }

    /// Reads the fields of a new message. `own` is the person of a bound key.
    pub fn read(fields: &mut Fields, own: Option<EmployeeId>) -> Option<Self> {
        let author = fields.required_or(&AUTHOR, own.map(Reference::from));
        let body = fields.required(&BODY);
        Some(Self { author: author?, body: body? })
    }

    /// Reads the body of a new message of this caller.
    ///
    /// # Errors
    /// One problem for each wrong field.
    pub fn parse(body: Object, caller: &Caller) -> Result<Self, ValidationErrors> {
        Fields::parse_new(body, READ_ONLY, |fields| Self::read(fields, caller.bound_to()))
    }

    /// Requires that the caller may write this message (decision B5).
    ///
    /// # Errors
    /// [`PermissionError::OtherPerson`].
    pub fn may_be_written_by(&self, caller: &Caller) -> Result<(), PermissionError> {
        caller.may_write_as(&self.author)
    }
}

impl Conversation {
    /// Adds a message with a notice to each other participant.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the conversation is archived, [`DomainError::Unprocessable`] for an author who
    /// is not a participant.
    pub fn add(&self, id: MessageId, draft: Draft, at: Timestamp) -> Result<Decision<Message>, DomainError> {
        must_be_active(self.archived_at, "add_message")?;
        let author = draft.author.id.filter(|id| self.participant_ids.contains(id));
        let Some(author_id) = author else {
            let flaw = ValueError::new(Code::NotAParticipant, "does not take part in the conversation");
            return Err(DomainError::unprocessable("author_id", flaw));
        };
        let state = Message { id, conversation_id: self.id, author_id, body: draft.body, created_at: at };
        let notices =
            self.participant_ids.iter().filter(|id| **id != author_id).map(|id| self.notice(*id, &state));
        let notices = notices.collect();
        let fires = vec![EventType::ConversationMessageCreated];
        Ok(Decision { notices, ..Decision::for_creation(state, "message.create", fires) })
    }

    fn notice(&self, to: EmployeeId, message: &Message) -> Notice {
        Notice {
            kind: notification::Type::ConversationMessage,
            to: Recipients::Person(to),
            title: format!("New message: {}", self.title),
            body: excerpt(&message.body),
            target: Target { kind: Self::NAME.to_owned(), id: self.id.to_string() },
        }
    }
}

/// Conditions of a list of messages in one conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The author of the message.
    pub author_id: Option<EmployeeId>,
    /// Bounds of the creation time.
    pub created_at: Bounds<Timestamp>,
}

impl Filter {
    /// Reads the parameters of `GET /conversations/{id}/messages` into a filter. Problems are recorded in
    /// `params`.
    pub fn read(conversation: ConversationId, params: &mut Params) -> ListRequest<Self, ()> {
        let filter = Self {
            author_id: params.one(&params::id("filter[author_id]", "Only entries by this author.")),
            created_at: params.bounds(&params::datetime(
                "filter[created_at]",
                "Only messages whose creation time is within the bounds.",
            )),
        };
        params.list::<Message, _, _>(&format!("messages of {conversation}"), filter, vec![])
    }
}

impl Sortable for Message {
    const ORDERS_NAME: &'static str = "MessageSort";
    const ORDERS: &'static [SortKey<Self>] =
        &[SortKey::descending_by(SortBy::CreatedAt, |message| Key::Time(message.created_at))];
}
