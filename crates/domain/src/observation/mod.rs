//! Observations: one strength or opportunity about one person (§2.1, §3.2, §4.1).

mod change;
mod list;

pub use change::{Draft, Patch, References};
pub use list::{Expand, Filter};

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::access::{Caller, Denied};
use crate::decision::{Decision, Resource};
use crate::event::EventType;
use crate::fields::{Word, as_word};
use crate::id::{AttributeId, EmployeeId, ObservationId, ObservationKind};
use crate::refusal::Refusal;
use crate::time::{Date, Timestamp};

/// The longest observation (§8).
pub const TEXT_CHARS: usize = 4000;
/// The longest impact or recommended action (§8).
pub const NOTE_CHARS: usize = 2000;
/// The most attributes of one observation (§8).
pub const MAX_ATTRIBUTES: usize = 12;

/// Whether an observation is about something to keep or something to work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Type {
    /// To keep.
    Strength,
    /// To work on.
    Opportunity,
}

impl Word for Type {
    const NAME: &'static str = "ObservationType";
}

/// Whether the person whom an observation is about sees it (decision B5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Visibility {
    /// The person sees it, and so do their managers.
    Person,
    /// Only the person's managers see it, beside its author and the requester of its assignment.
    Managers,
}

impl Word for Visibility {
    const NAME: &'static str = "ObservationVisibility";
}

/// One piece of feedback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Observation {
    /// Its id.
    pub id: ObservationId,
    /// Whom it is about.
    pub employee_id: EmployeeId,
    /// Who wrote it, if that was said.
    pub author_id: Option<EmployeeId>,
    /// Strength or opportunity.
    #[serde(rename = "type", serialize_with = "as_word")]
    pub kind: Type,
    /// What was observed.
    pub observation: String,
    /// What came of it.
    pub impact: Option<String>,
    /// What should be done.
    pub recommended_action: Option<String>,
    /// Its tags.
    pub attribute_ids: Vec<AttributeId>,
    /// The day it is about.
    pub observation_date: Date,
    /// Whether the person it is about sees it.
    #[serde(serialize_with = "as_word")]
    pub visibility: Visibility,
    /// The requester of the assignment that it was submitted to, who sees it; no client is shown this.
    #[serde(skip)]
    pub requester_id: Option<EmployeeId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was archived; null while active.
    pub archived_at: Option<Timestamp>,
}

impl Resource for Observation {
    type Kind = ObservationKind;
    const NAME: &'static str = "observation";

    fn id(&self) -> ObservationId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }
}

impl Observation {
    /// Checks that the caller may change, archive or restore this observation, which they see (decision B5).
    ///
    /// # Errors
    /// [`Denied::AuthorOnly`] for every person but its author and org admins.
    pub fn may_be_changed_by(&self, caller: &Caller) -> Result<(), Denied> {
        let is_allowed = caller.viewer().person().is_none_or(|person| self.author_id == Some(person));
        if is_allowed { Ok(()) } else { Err(Denied::AuthorOnly) }
    }

    /// Moves an active observation to the archive (§3.2).
    ///
    /// # Errors
    /// [`Refusal::Conflict`] if it is there already.
    pub fn archive(&self, at: Timestamp) -> Result<Decision<Self>, Refusal> {
        self.must_be_active("archive")?;
        let at = at.strictly_after(self.updated_at);
        let state = Self { archived_at: Some(at), updated_at: at, ..self.clone() };
        Ok(Decision::changed(self, state, "observation.archive", vec![EventType::ObservationArchived]))
    }

    /// Takes an observation out of the archive (§3.2).
    ///
    /// # Errors
    /// [`Refusal::Conflict`] if it is not there.
    pub fn restore(&self, at: Timestamp) -> Result<Decision<Self>, Refusal> {
        if self.archived_at.is_none() {
            return Err(Refusal::transition("archived_at", self.archived_at, "restore"));
        }
        let state = Self { archived_at: None, updated_at: at.strictly_after(self.updated_at), ..self.clone() };
        Ok(Decision::changed(self, state, "observation.restore", vec![EventType::ObservationRestored]))
    }

    fn must_be_active(&self, attempted: &str) -> Result<(), Refusal> {
        if self.archived_at.is_none() {
            Ok(())
        } else {
            Err(Refusal::transition("archived_at", self.archived_at, attempted))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use ulid::Ulid;

    pub(crate) fn observation() -> Observation {
        let at = Timestamp::from_millis(1_000);
        Observation {
            id: ObservationId::from_ulid(Ulid(1)),
            employee_id: EmployeeId::from_ulid(Ulid(2)),
            author_id: None,
            kind: Type::Strength,
            observation: "Explains hard things simply.".to_owned(),
            impact: None,
            recommended_action: None,
            attribute_ids: vec![],
            observation_date: at.date(),
            visibility: Visibility::Person,
            requester_id: None,
            created_at: at,
            updated_at: at,
            archived_at: None,
        }
    }

    #[test]
    fn every_state_meets_every_action() {
        let at = Timestamp::from_millis(2_000);
        let active = observation();
        let archived = active.archive(at).unwrap();
        assert_eq!((archived.state.archived_at, archived.events), (Some(at), vec![EventType::ObservationArchived]));
        assert!(matches!(archived.state.archive(at), Err(Refusal::Conflict(_))));
        assert!(matches!(active.restore(at), Err(Refusal::Conflict(_))));
        let restored = archived.state.restore(at).unwrap();
        assert_eq!((restored.state.archived_at, restored.events), (None, vec![EventType::ObservationRestored]));
        assert!(restored.state.updated_at > archived.state.updated_at, "also within one millisecond");
    }

    #[test]
    fn the_json_form_is_that_of_the_contract() {
        let json = serde_json::to_string(&observation()).unwrap();
        assert_eq!(
            json,
            r#"{"id":"obs_00000000000000000000000001","employee_id":"emp_00000000000000000000000002","author_id":null,"type":"strength","observation":"Explains hard things simply.","impact":null,"recommended_action":null,"attribute_ids":[],"observation_date":"1970-01-01","visibility":"person","created_at":"1970-01-01T00:00:01.000Z","updated_at":"1970-01-01T00:00:01.000Z","archived_at":null}"#
        );
    }
}
