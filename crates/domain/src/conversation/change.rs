//! Creation of conversations, and changes of their title and participants (decision G).

use std::collections::BTreeSet;

use super::{
    About, AboutReference, Content, ContentPatch, Conversation, Joins, MAX_PARTICIPANTS, MIN_PARTICIPANTS,
};
use crate::access::{Caller, PermissionError};
use crate::decision::Decision;
use crate::event::EventType;
use crate::fields::{Fields, Reference};
use crate::id::{ConversationId, EmployeeId, EmployeeKind};
use crate::problem::ValidationErrors;
use crate::refusal::{DomainError, must_be_active};
use crate::rule::{self, Field, List, Nested, ReferenceRule};
use crate::time::Timestamp;
use crate::update::{Update, parse_new, parse_update};

/// Fields that only the service sets.
const READ_ONLY: &[&str] = &["id", "last_message_at", "created_at", "updated_at", "archived_at"];
/// Fields that cannot change after the creation (decision G).
const IMMUTABLE: &[&str] = &["about"];

const ABOUT: Field<Nested<AboutReference>> = Field::new("about", rule::nested(AboutReference::read));
const PARTICIPANTS: Field<List<ReferenceRule<EmployeeKind>>> = Field::with_about(
    "participant_ids",
    rule::list(MAX_PARTICIPANTS, rule::reference()).at_least(MIN_PARTICIPANTS),
    "422 if one does not exist.",
);

/// The body of a creation, validated by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of the contract, decision G")]
pub struct Draft {
    content: Content,
    pub about: Option<AboutReference>,
    pub participants: Vec<Reference<EmployeeKind>>,
}

/// The body of an update, validated by itself. `None` leaves a field unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of the contract, decision G")]
pub struct Patch {
    content: ContentPatch,
    pub participants: Option<Vec<Reference<EmployeeKind>>>,
}

/// Stored facts about the resources that a body refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct References {
    /// The participants that exist.
    pub people: BTreeSet<EmployeeId>,
    /// The subject of the conversation, if it exists and the caller sees it.
    pub about: Option<About>,
}

impl Draft {
    /// Reads the fields of a creation.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let content = Content::read(fields);
        let about = fields.optional(&ABOUT);
        let about = about.and_then(|subject| fields.nested("about", subject));
        let participants = fields.required(&PARTICIPANTS);
        Some(Self { content: content?, about, participants: participants? })
    }
}

parse_new!(Draft, READ_ONLY);

impl Draft {
    /// Requires that the person of a bound key, also an org admin, is a participant (decision B5).
    ///
    /// # Errors
    /// [`PermissionError::NotAmongParticipants`].
    pub fn may_be_begun_by(&self, caller: &Caller) -> Result<(), PermissionError> {
        let takes_part = |own: EmployeeId| self.participants.iter().any(|participant| participant.id == Some(own));
        if caller.bound_to().is_none_or(takes_part) { Ok(()) } else { Err(PermissionError::NotAmongParticipants) }
    }
}

impl Patch {
    /// Reads the fields of an update.
    pub fn read(fields: &mut Fields) -> Self {
        Self { content: ContentPatch::read(fields), participants: fields.present(&PARTICIPANTS) }
    }
}

parse_update!(Patch, [READ_ONLY, IMMUTABLE]);

impl Update<Patch> {
    /// Checks the update against the stored conversation. If the conversation is archived, the fields of the
    /// update are not checked, because [`Conversation::update`] refuses every update then (decision A8).
    ///
    /// # Errors
    /// One problem for each wrong or immutable field.
    pub fn resolve_with(&self, stored: &Conversation) -> Result<Patch, ValidationErrors> {
        if stored.archived_at.is_some() { Ok(Patch::default()) } else { self.finish(stored) }
    }
}

impl Conversation {
    /// Creates a conversation.
    ///
    /// # Errors
    /// [`DomainError::Unprocessable`] for participants or a subject that do not exist.
    pub fn create(
        id: ConversationId,
        draft: Draft,
        found: &References,
        at: Timestamp,
    ) -> Result<Decision<Self>, DomainError> {
        let mut problems = ValidationErrors::none();
        if let (Some(wanted), None) = (&draft.about, found.about) {
            problems.add("about.id", wanted.not_found());
        }
        let participant_ids = resolve_participants(&draft.participants, found, &mut problems);
        let about = draft.about.and(found.about);
        let state = Self {
            id,
            title: draft.content.title,
            about,
            participant_ids,
            last_message_at: None,
            created_at: at,
            updated_at: at,
            archived_at: None,
            joins: Joins::default(),
        };
        let state = problems.or(state).map_err(DomainError::Unprocessable)?;
        Ok(Decision::for_creation(state, "conversation.create", vec![EventType::ConversationCreated]))
    }

    /// Changes title and participants. Returns `None` if nothing changes (decision A8).
    ///
    /// # Errors
    /// [`DomainError::Conflict`] for an archived conversation, [`DomainError::Unprocessable`] for people who do not
    /// exist, and for too many participants over time, [`DomainError::Denied`] for a key that acts for a person who
    /// is no org admin and removes another person.
    pub fn update(
        &self,
        caller: &Caller,
        patch: &Patch,
        found: &References,
        at: Timestamp,
    ) -> Result<Option<Decision<Self>>, DomainError> {
        must_be_active(self.archived_at, "update")?;
        let mut state = self.clone();
        if let Some(participants) = &patch.participants {
            let mut problems = ValidationErrors::none();
            let participant_ids = resolve_participants(participants, found, &mut problems);
            let participant_ids = problems.or(participant_ids).map_err(DomainError::Unprocessable)?;
            state.set_participants(caller, participant_ids, at)?;
        }
        patch.content.clone().apply_to(&mut state);
        if state == *self {
            return Ok(None);
        }
        state.updated_at = at.strictly_after(self.updated_at);
        Ok(Some(Decision::for_change(self, state, "conversation.update", vec![EventType::ConversationUpdated])))
    }
}

/// Resolves the participants. Each person who does not exist is a problem of its own (decision A4).
fn resolve_participants(
    wanted: &[Reference<EmployeeKind>],
    found: &References,
    problems: &mut ValidationErrors,
) -> Vec<EmployeeId> {
    let one = |person: &Reference<EmployeeKind>| person.resolve(|id| found.people.contains(id));
    wanted.iter().filter_map(|person| problems.take("participant_ids", one(person))).collect()
}
