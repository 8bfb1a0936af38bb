//! Observations: one strength or opportunity about one person (§2.1, §3.2, §4.1).

mod change;
mod counts;
mod list;

pub use change::{Draft, Patch, References};
pub use counts::{ObservationCount, ObservationGroup};
pub use list::{Expand, Filter};

use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::access::{Caller, PermissionError};
use crate::content::{content, optional, or, required};
use crate::decision::{Decision, Resource, identity};
use crate::event::EventType;
use crate::external_id;
use crate::fields::string_enum;
use crate::id::{AttributeId, EmployeeId, ObservationId, ObservationKind};
use crate::keyed::Metadata;
use crate::refusal::{DomainError, must_be_active, must_be_archived};
use crate::rule;
use crate::time::{Date, Timestamp};

/// Maximum length of an observation, in characters (§8).
pub const TEXT_CHARS: usize = 4000;
/// Maximum length of an impact or a recommended action, in characters (§8).
pub const NOTE_CHARS: usize = 2000;
/// Maximum number of attributes of an observation (§8).
pub const MAX_ATTRIBUTES: usize = 12;

/// The two kinds of observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Type {
    /// Names something that the person should keep doing.
    Strength,
    /// Names something that the person should improve.
    Opportunity,
}

string_enum!(Type, "ObservationType");

/// Visibility of an observation to the person that it is about (decision B5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Visibility {
    /// The person sees it, and so do their managers, the requester of its assignment, the author and org admins.
    Person,
    /// Only the person's managers, the author and org admins see it.
    Managers,
}

string_enum!(Visibility, "ObservationVisibility");

content! {
    pub struct Content;
    pub struct ContentPatch;

    /// A piece of feedback about one person.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Observation {
        /// Id of the observation, with the prefix `obs_`.
        pub id: ObservationId,
        /// Id of the person the observation is about.
        pub employee_id: EmployeeId,
        /// Author of the observation. Null if unknown.
        pub author_id: Option<EmployeeId>,
        /// Type: a strength or an opportunity.
        #[serde(rename = "type")]
        pub kind: Type => set once by required(rule::word()).with_name("type"),
        /// Observed behaviour, in plain text that is not blank.
        pub observation: String => set by required(rule::text(1..=TEXT_CHARS)),
        /// Impact of the observed behaviour, in plain text. Null if there is none.
        pub impact: Option<String> => set by optional(rule::text(0..=NOTE_CHARS)),
        /// Recommended action, in plain text. Null if there is none.
        pub recommended_action: Option<String> => set by optional(rule::text(0..=NOTE_CHARS)),
        /// Ids of the attributes.
        pub attribute_ids: Vec<AttributeId>,
        /// Day of the observed behaviour. Never in the future.
        pub observation_date: Date,
        /// Visibility. With `person`, the person it is about and the requester of its assignment also see it.
        /// With `managers`, only the managers above that person, the author and org admins do.
        pub visibility: Visibility => set by or(rule::word(), Visibility::Person),
        /// The requester of the assignment that the observation was submitted to, who sees it if its visibility
        /// is `person`. Never shown to clients.
        #[serde(skip)]
        pub requester_id: Option<EmployeeId>,
        /// Time of creation, which never changes.
        pub created_at: Timestamp,
        /// Time of the last change. It increases with every change.
        pub updated_at: Timestamp,
        /// Archive time. Null if it is not archived.
        pub archived_at: Option<Timestamp>,
        /// Texts for other systems, by key. The service does not interpret them.
        pub metadata: Metadata,
        /// Id of the observation in another system. Unique among all observations. Null if there is none.
        pub external_id: Option<String> => set by optional(external_id::rule()),
    }
}

impl Resource for Observation {
    identity!(ObservationKind);
}

impl Observation {
    /// Requires that the caller, who sees the observation, may change, archive and restore it (decision B5).
    ///
    /// # Errors
    /// [`PermissionError::AuthorOnly`] for a person who is neither the author nor an org admin.
    pub fn may_be_changed_by(&self, caller: &Caller) -> Result<(), PermissionError> {
        let is_allowed = caller.viewer().person().is_none_or(|person| self.author_id == Some(person));
        if is_allowed { Ok(()) } else { Err(PermissionError::AuthorOnly) }
    }

    /// Archives an active observation (§3.2).
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the observation is already archived.
    pub fn archive(&self, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        must_be_active(self.archived_at, "archive")?;
        let archived_at = at.strictly_after(self.updated_at);
        let state = Self { archived_at: Some(archived_at), updated_at: archived_at, ..self.clone() };
        Ok(Decision::for_change(self, state, "observation.archive", vec![EventType::ObservationArchived]))
    }

    /// Restores an archived observation (§3.2).
    ///
    /// # Errors
    /// [`DomainError::Conflict`] if the observation is not archived.
    pub fn restore(&self, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        must_be_archived(self.archived_at)?;
        let state = Self { archived_at: None, updated_at: at.strictly_after(self.updated_at), ..self.clone() };
        Ok(Decision::for_change(self, state, "observation.restore", vec![EventType::ObservationRestored]))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use ulid::Ulid;

    pub(crate) fn observation() -> Observation {
        let time = Timestamp::from_millis(1_000);
        Observation {
            id: ObservationId::from_ulid(Ulid(1)),
            employee_id: EmployeeId::from_ulid(Ulid(2)),
            author_id: None,
            kind: Type::Strength,
            observation: "Explains hard things simply.".to_owned(),
            impact: None,
            recommended_action: None,
            attribute_ids: vec![],
            observation_date: time.date(),
            visibility: Visibility::Person,
            requester_id: None,
            created_at: time,
            updated_at: time,
            archived_at: None,
            metadata: Metadata::default(),
            external_id: None,
        }
    }

    #[test]
    fn each_state_accepts_only_its_actions() {
        let time = Timestamp::from_millis(2_000);
        let active = observation();
        let archival = active.archive(time).unwrap();
        assert_eq!(
            (archival.state.archived_at, archival.events),
            (Some(time), vec![EventType::ObservationArchived])
        );
        assert!(matches!(archival.state.archive(time), Err(DomainError::Conflict(_))));
        assert!(matches!(active.restore(time), Err(DomainError::Conflict(_))));
        let restoration = archival.state.restore(time).unwrap();
        assert_eq!(
            (restoration.state.archived_at, restoration.events),
            (None, vec![EventType::ObservationRestored])
        );
        assert!(restoration.state.updated_at > archival.state.updated_at, "also within one millisecond");
    }

    #[test]
    fn json_has_the_members_of_the_contract() {
        let json = serde_json::to_string(&observation()).unwrap();
        assert_eq!(
            json,
            r#"{"id":"obs_00000000000000000000000001","employee_id":"emp_00000000000000000000000002","author_id":null,"type":"strength","observation":"Explains hard things simply.","impact":null,"recommended_action":null,"attribute_ids":[],"observation_date":"1970-01-01","visibility":"person","created_at":"1970-01-01T00:00:01.000Z","updated_at":"1970-01-01T00:00:01.000Z","archived_at":null,"metadata":{},"external_id":null}"#
        );
    }
}
