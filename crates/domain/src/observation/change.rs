//! Creation and updates of observations (§4.1).

use std::collections::BTreeMap;

use super::{Content, ContentPatch, MAX_ATTRIBUTES, Observation};
use crate::access::{Caller, PermissionError};
use crate::decision::Decision;
use crate::event::EventType;
use crate::external_id::{ExternalIdHolders, externally_identified};
use crate::fields::{Fields, Reference};
use crate::id::{AttributeId, AttributeKind, EmployeeId, EmployeeKind, ObservationId, ObservationKind};
use crate::json::Object;
use crate::keyed::{self, KeyedMap, Metadata, MetadataPatch};
use crate::people::Status;
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::refusal::{DomainError, must_be_active};
use crate::rule::{self, Checked, Field, List, ReferenceRule};
use crate::time::{Date, Timestamp};
use crate::update::{Update, parse_update};

/// Fields that only the service sets.
const READ_ONLY: &[&str] = &["id", "created_at", "updated_at", "archived_at"];
/// Fields that cannot change after the creation (decision A7).
const IMMUTABLE: &[&str] = &["employee_id", "author_id", "type", "observation_date"];

const EMPLOYEE: Field<ReferenceRule<EmployeeKind>> = Field::new("employee_id", rule::reference());
const AUTHOR: Field<ReferenceRule<EmployeeKind>> = Field::new("author_id", rule::reference());
const ATTRIBUTES: Field<List<ReferenceRule<AttributeKind>>> = Field::with_about(
    "attribute_ids",
    rule::list(MAX_ATTRIBUTES, rule::reference()),
    "422 if one does not exist.",
);
/// Seconds by which the clocks of the easternmost time zone are ahead of UTC.
const EASTERNMOST_SECONDS: i64 = 14 * 60 * 60;
const OBSERVATION_DATE: Field<Checked<Date>> = Field::with_about(
    "observation_date",
    rule::date(),
    "Default: today in UTC. At most the present day in the easternmost time zone, UTC+14.",
);

/// The body of a creation, validated by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of the contract, §2.1")]
pub struct Draft {
    /// The person that the observation is about.
    pub employee: Reference<EmployeeKind>,
    /// The author. `None` if the field is absent, `Some(None)` if the field is null.
    pub author: Option<Option<Reference<EmployeeKind>>>,
    pub content: Content,
    pub attributes: Vec<Reference<AttributeKind>>,
    pub observation_date: Date,
    pub metadata: Metadata,
}

/// The body of an update, validated by itself. `None` leaves a field unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of the contract, §2.1")]
pub struct Patch {
    pub content: ContentPatch,
    pub attributes: Option<Vec<Reference<AttributeKind>>>,
    pub metadata: MetadataPatch,
}

/// Stored facts about the resources that a body refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct References {
    /// The status of each person that exists.
    pub people: BTreeMap<EmployeeId, Status>,
    /// Each attribute that exists, and `true` if it is archived.
    pub attributes: BTreeMap<AttributeId, bool>,
    /// The observations that have an external id of the body.
    pub external_ids: ExternalIdHolders<ObservationKind>,
}

impl Draft {
    /// Reads the fields of a creation.
    pub fn read(fields: &mut Fields, now: Timestamp) -> Option<Self> {
        let employee = fields.required(&EMPLOYEE);
        let author = fields.nullable(&AUTHOR);
        Self::read_of(fields, now, employee, author)
    }

    /// Reads the fields of a creation other than the subject and the author, which the caller has already read.
    pub fn read_of(
        fields: &mut Fields,
        now: Timestamp,
        employee: Option<Reference<EmployeeKind>>,
        author: Option<Option<Reference<EmployeeKind>>>,
    ) -> Option<Self> {
        let content = Content::read(fields);
        let attributes = fields.present(&ATTRIBUTES);
        let metadata = keyed::read_new(fields);
        let observation_date = fields.present(&OBSERVATION_DATE.and(|date| not_after(date, now)));
        Some(Self {
            employee: employee?,
            author,
            content: content?,
            attributes: attributes.unwrap_or_default(),
            observation_date: observation_date.unwrap_or(now.date()),
            metadata,
        })
    }

    /// Returns the draft with its author resolved: a bound key writes as its person (decision B5).
    ///
    /// # Errors
    /// [`PermissionError::OtherPerson`] if a bound key names another author, or null.
    pub fn written_by(self, caller: &Caller) -> Result<Self, PermissionError> {
        let author = caller.speaker(self.author)?;
        Ok(Self { author: Some(author), ..self })
    }

    /// Reads the body of a creation.
    ///
    /// # Errors
    /// One problem for each wrong field.
    pub fn parse(body: Object, now: Timestamp) -> Result<Self, ValidationErrors> {
        Fields::parse_new(body, READ_ONLY, |fields| Self::read(fields, now))
    }
}

/// Refuses a day that has begun nowhere on earth.
fn not_after(date: Date, now: Timestamp) -> Result<Date, ValueError> {
    let latest = now.plus_seconds(EASTERNMOST_SECONDS).date();
    if date > latest {
        let message = format!("must not be after {latest}, the present day in the easternmost time zone");
        Err(ValueError::new(Code::OutOfRange, message))
    } else {
        Ok(date)
    }
}

impl Patch {
    /// Reads the fields of an update.
    pub fn read(fields: &mut Fields) -> Self {
        Self {
            content: ContentPatch::read(fields),
            attributes: fields.present(&ATTRIBUTES),
            metadata: keyed::read_patch::<Metadata>(fields),
        }
    }
}

parse_update!(Patch, [READ_ONLY, IMMUTABLE]);

externally_identified!(Observation, Draft, Patch);

impl Update<Patch> {
    /// Checks the update against the stored observation. Ignores the fields of an archived observation, because
    /// [`Observation::update`] refuses to update it (decision A8).
    ///
    /// # Errors
    /// One problem for each wrong or immutable field, and for too many keys of metadata.
    pub fn resolve_with(&self, stored: &Observation) -> Result<Patch, ValidationErrors> {
        if stored.archived_at.is_some() {
            return Ok(Patch::default());
        }
        let (patch, mut fields) = self.compare(stored);
        keyed::check_merged(&stored.metadata, &patch.metadata, &mut fields);
        fields.finish(Some(patch))
    }
}

impl Observation {
    /// Creates an observation (§4.1).
    ///
    /// # Errors
    /// [`DomainError::Unprocessable`] for people and attributes that cannot be referred to,
    /// [`DomainError::Conflict`] for an external id that another observation has.
    pub fn create(
        id: ObservationId,
        draft: Draft,
        found: &References,
        at: Timestamp,
    ) -> Result<Decision<Self>, DomainError> {
        let mut problems = ValidationErrors::none();
        let employee_id = problems.take("employee_id", resolve_subject(&draft.employee, found));
        let author_id =
            draft.author.flatten().map(|author| problems.take("author_id", resolve_person(&author, found)));
        let attribute_ids = resolve_attributes(&draft.attributes, &[], found, &mut problems);
        let (Some(employee_id), true) = (employee_id, problems.is_empty()) else {
            return Err(DomainError::Unprocessable(problems));
        };
        found.external_ids.require_free(draft.content.external_id.as_deref(), None)?;
        let state = Self {
            id,
            employee_id,
            author_id: author_id.flatten(),
            kind: draft.content.kind,
            observation: draft.content.observation,
            impact: draft.content.impact,
            recommended_action: draft.content.recommended_action,
            attribute_ids,
            observation_date: draft.observation_date,
            visibility: draft.content.visibility,
            requester_id: None,
            created_at: at,
            updated_at: at,
            archived_at: None,
            metadata: draft.metadata,
            external_id: draft.content.external_id,
        };
        Ok(Decision::for_creation(state, "observation.create", vec![EventType::ObservationCreated]))
    }

    /// Updates an active observation. Returns `None` if nothing changes (decision A8).
    ///
    /// # Errors
    /// [`DomainError::Conflict`] for an archived observation (decision D9) and for an external id that another
    /// observation has, [`DomainError::Unprocessable`] for attributes that cannot be referred to.
    pub fn update(
        &self,
        patch: &Patch,
        found: &References,
        at: Timestamp,
    ) -> Result<Option<Decision<Self>>, DomainError> {
        must_be_active(self.archived_at, "update")?;
        let mut state = self.clone();
        if let Some(attribute_list) = &patch.attributes {
            let mut problems = ValidationErrors::none();
            let attribute_ids = resolve_attributes(attribute_list, &self.attribute_ids, found, &mut problems);
            state.attribute_ids = problems.or(attribute_ids).map_err(DomainError::Unprocessable)?;
        }
        patch.content.clone().apply_to(&mut state);
        state.metadata = self.metadata.apply_patch(&patch.metadata);
        found.external_ids.require_free(state.external_id.as_deref(), Some(self.id))?;
        if state == *self {
            return Ok(None);
        }
        state.updated_at = at.strictly_after(self.updated_at);
        Ok(Some(Decision::for_change(self, state, "observation.update", vec![EventType::ObservationUpdated])))
    }
}

fn resolve_person(wanted: &Reference<EmployeeKind>, found: &References) -> Result<EmployeeId, ValueError> {
    wanted.resolve(|id| found.people.contains_key(id))
}

/// Resolves the subject: a person without a pending invitation, also after leaving (§2.1, decision D2).
fn resolve_subject(wanted: &Reference<EmployeeKind>, found: &References) -> Result<EmployeeId, ValueError> {
    let id = resolve_person(wanted, found)?;
    if found.people.get(&id) == Some(&Status::PendingInvite) {
        return Err(ValueError::new(Code::InvalidState, "must be a person who has accepted the invitation"));
    }
    Ok(id)
}

/// Resolves the attributes. An archived attribute is accepted only if the observation already has it (decisions
/// G). Each attribute that cannot be referred to is a problem of its own (decision A4).
fn resolve_attributes(
    wanted: &[Reference<AttributeKind>],
    before: &[AttributeId],
    found: &References,
    problems: &mut ValidationErrors,
) -> Vec<AttributeId> {
    let one = |attribute: &Reference<AttributeKind>| {
        let id = attribute.id.ok_or_else(|| attribute.not_found())?;
        match found.attributes.get(&id) {
            None => Err(attribute.not_found()),
            Some(true) if !before.contains(&id) => {
                let message = format!("must not be archived when they are added; {id} is archived");
                Err(ValueError::new(Code::InvalidState, message))
            }
            Some(_) => Ok(id),
        }
    };
    wanted.iter().filter_map(|attribute| problems.take("attribute_ids", one(attribute))).collect()
}

#[cfg(test)]
mod tests;
