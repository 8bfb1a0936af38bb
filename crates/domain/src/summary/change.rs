//! Creating and updating summaries (decisions G).

use std::collections::{BTreeMap, BTreeSet};

use super::{Content, ContentPatch, MAX_OBJECTIVES, MAX_OBSERVATIONS, Status, Summary};
use crate::decision::Decision;
use crate::event::EventType;
use crate::external_id::{ExternalIdHolders, externally_identified};
use crate::fields::{Fields, Reference, StringEnum};
use crate::id::{
    EmployeeId, EmployeeKind, Id, Kind, ObjectiveId, ObjectiveKind, ObservationId, ObservationKind, SummaryId,
    SummaryKind,
};
use crate::keyed::{self, KeyedMap, Metadata, MetadataPatch};
use crate::objective::find_period_flaw;
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::refusal::DomainError;
use crate::rule::{self, Checked, Field, List, ReferenceRule};
use crate::time::{Date, Timestamp};
use crate::update::{Update, parse_new, parse_update};

/// Fields that only the service sets.
const READ_ONLY: &[&str] = &[
    "id",
    "status",
    "edited_by",
    "archived_observation_ids",
    "employee_feedback",
    "submitted_at",
    "approved_at",
    "shared_at",
    "archived_at",
    "created_at",
    "updated_at",
];
/// Fields that are set at the creation and never change.
const IMMUTABLE: &[&str] = &["employee_id", "author_id"];

const EMPLOYEE: Field<ReferenceRule<EmployeeKind>> = Field::new("employee_id", rule::reference());
const AUTHOR: Field<ReferenceRule<EmployeeKind>> = Field::with_about(
    "author_id",
    rule::reference(),
    "A key that acts for a person writes as that person: 403 for another person and for null.",
);
const PERIOD_START: Field<Checked<Date>> =
    Field::with_about("period_start", rule::date(), "Give `period_start` and `period_end` together, or neither.");
const PERIOD_END: Field<Checked<Date>> = Field::new("period_end", rule::date());
const OBJECTIVES: Field<List<ReferenceRule<ObjectiveKind>>> = Field::with_about(
    "included_objective_ids",
    rule::list(MAX_OBJECTIVES, rule::reference()),
    "422 if one does not exist.",
);
const OBSERVATIONS: Field<List<ReferenceRule<ObservationKind>>> = Field::with_about(
    "included_observation_ids",
    rule::list(MAX_OBSERVATIONS, rule::reference()),
    "422 if one does not exist, is about another person, or is archived when it is added.",
);

/// The body of a creation, validated on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The person that the summary is about.
    pub employee: Reference<EmployeeKind>,
    /// The author as given in the body; see [`Draft::author`].
    pub(super) author: Option<Option<Reference<EmployeeKind>>>,
    /// Objectives that support the summary.
    pub objectives: Vec<Reference<ObjectiveKind>>,
    /// Observations that support the summary.
    pub observations: Vec<Reference<ObservationKind>>,
    content: Content,
    period: Option<(Date, Date)>,
    metadata: Metadata,
}

/// The body of an update, validated on its own. `None` keeps the stored value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    /// Objectives that support the summary.
    pub objectives: Option<Vec<Reference<ObjectiveKind>>>,
    /// Observations that support the summary.
    pub observations: Option<Vec<Reference<ObservationKind>>>,
    content: ContentPatch,
    period_start: Option<Option<Date>>,
    period_end: Option<Option<Date>>,
    metadata: MetadataPatch,
}

/// The stored state of the resources that a body refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct References {
    /// The people that the body refers to, without unknown ids.
    pub people: BTreeSet<EmployeeId>,
    /// The objectives that the body refers to, without unknown ones and without those that the caller cannot see.
    pub objectives: BTreeSet<ObjectiveId>,
    /// The observations that the body refers to, without unknown ids.
    pub observations: BTreeMap<ObservationId, StoredObservation>,
    /// The summaries that have an external id of the body.
    pub external_ids: ExternalIdHolders<SummaryKind>,
}

/// The stored state of an observation that a body refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredObservation {
    /// The person that the observation is about.
    pub employee_id: EmployeeId,
    /// `true` if the observation is archived.
    pub is_archived: bool,
}

/// Returns the period of a body. Adds a problem if one of the two days is missing, or if they are in the wrong order.
fn period(start: Option<Date>, end: Option<Date>, fields: &mut Fields) -> Option<(Date, Date)> {
    match (start, end) {
        (Some(start), Some(end)) => {
            if let Some(flaw) = find_period_flaw(start, end) {
                fields.problem("period_end", flaw);
            }
            Some((start, end))
        }
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => {
            let missing = if start.is_none() { "period_start" } else { "period_end" };
            fields.problem(
                missing,
                ValueError::new(Code::Required, "is required together with the other end of the period"),
            );
            None
        }
    }
}

impl Draft {
    /// Declares and reads the fields of a creation.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let employee = fields.required(&EMPLOYEE);
        let author = fields.nullable(&AUTHOR);
        let content = Content::read(fields);
        let days = (fields.optional(&PERIOD_START), fields.optional(&PERIOD_END));
        let metadata = keyed::read_new(fields);
        let objectives = fields.present(&OBJECTIVES);
        let observations = fields.present(&OBSERVATIONS);
        Some(Self {
            period: period(days.0, days.1, fields),
            employee: employee?,
            author,
            content: content?,
            objectives: objectives.unwrap_or_default(),
            observations: observations.unwrap_or_default(),
            metadata,
        })
    }

    /// Returns the author, if there is one.
    #[must_use]
    pub fn author(&self) -> Option<&Reference<EmployeeKind>> {
        self.author.as_ref()?.as_ref()
    }
}

parse_new!(Draft, READ_ONLY);

impl Patch {
    /// Declares and reads the fields of an update.
    pub fn read(fields: &mut Fields) -> Self {
        Self {
            content: ContentPatch::read(fields),
            period_start: fields.nullable(&PERIOD_START),
            period_end: fields.nullable(&PERIOD_END),
            objectives: fields.present(&OBJECTIVES),
            observations: fields.present(&OBSERVATIONS),
            metadata: keyed::read_patch::<Metadata>(fields),
        }
    }
}

parse_update!(Patch, [READ_ONLY, IMMUTABLE]);

externally_identified!(Summary, Draft, Patch);

impl Update<Patch> {
    /// Checks the update of a summary. Ignores the fields of a fixed one, which [`Summary::update`] refuses (decision A8).
    ///
    /// # Errors
    /// One problem for each wrong or immutable field, for a period of one day or in reverse, and for too much metadata.
    pub fn resolve_with(&self, stored: &Summary) -> Result<Patch, ValidationErrors> {
        if !stored.is_open() {
            return Ok(Patch::default());
        }
        let (patch, mut fields) = self.compare(stored);
        let start = patch.period_start.unwrap_or(stored.period_start);
        let end = patch.period_end.unwrap_or(stored.period_end);
        period(start, end, &mut fields);
        keyed::check_merged(&stored.metadata, &patch.metadata, &mut fields);
        fields.finish(Some(patch))
    }
}

impl Summary {
    /// Creates a summary with the status `draft`.
    ///
    /// # Errors
    /// Returns [`DomainError::Unprocessable`] for people, objectives and observations that do not exist or cannot
    /// be included, [`DomainError::Conflict`] for an external id that another summary has.
    pub fn create(
        id: SummaryId,
        draft: Draft,
        found: &References,
        at: Timestamp,
    ) -> Result<Decision<Self>, DomainError> {
        let mut problems = ValidationErrors::none();
        let is_known = |reference: &Reference<EmployeeKind>| reference.resolve(|id| found.people.contains(id));
        let employee_id = problems.take("employee_id", is_known(&draft.employee));
        let author_id = draft.author().map(|author| problems.take("author_id", is_known(author)));
        let objectives = objectives(&draft.objectives, &[], found, &mut problems);
        let about = draft.employee.id;
        let observations = observations(&draft.observations, &[], about, found, &mut problems);
        let (Some(employee_id), true) = (employee_id, problems.is_empty()) else {
            return Err(DomainError::Unprocessable(problems));
        };
        found.external_ids.require_free(draft.content.external_id.as_deref(), None)?;
        let state = Self {
            id,
            employee_id,
            author_id: author_id.flatten(),
            edited_by: None,
            editor_ids: vec![],
            past_editor_ids: vec![],
            title: draft.content.title,
            body: draft.content.body,
            period_start: draft.period.map(|days| days.0),
            period_end: draft.period.map(|days| days.1),
            status: Status::Draft,
            included_objective_ids: objectives,
            included_observation_ids: observations,
            employee_feedback: None,
            submitted_at: None,
            approved_at: None,
            shared_at: None,
            archived_at: None,
            created_at: at,
            updated_at: at,
            archived_observation_ids: vec![],
            kept_archived_ids: vec![],
            metadata: draft.metadata,
            external_id: draft.content.external_id,
        };
        Ok(Decision::for_creation(state, "summary.create", vec![EventType::SummaryCreated]))
    }

    /// Updates a summary that is not fixed, or returns `None` if nothing changes (decision A8). `shown` is the
    /// summary as the caller sees it: the update keeps ids that are missing from it. `editor` is the person of the
    /// key. With `needs_approval`, the reviewer is notified of other content in review (decision C10).
    ///
    /// # Errors
    /// Returns [`DomainError::Conflict`] for a fixed summary, even without a change, and for an external id that
    /// another summary has. [`DomainError::Unprocessable`] for objectives and observations that cannot be added.
    pub fn update(
        &self,
        shown: &Self,
        patch: Patch,
        found: &References,
        editor: Option<EmployeeId>,
        needs_approval: bool,
        at: Timestamp,
    ) -> Result<Option<Decision<Self>>, DomainError> {
        if !self.is_open() {
            return Err(DomainError::transition("status", self.status.word(), "update"));
        }
        let mut problems = ValidationErrors::none();
        let mut state = self.clone();
        if let Some(objective_list) = &patch.objectives {
            let (stored, before) = (&self.included_objective_ids, &shown.included_objective_ids);
            let objective_ids = objectives(objective_list, before, found, &mut problems);
            state.included_objective_ids = with_hidden(objective_ids, before, stored);
        }
        if let Some(observation_list) = &patch.observations {
            let (stored, before) = (&self.included_observation_ids, &shown.included_observation_ids);
            let observation_ids =
                observations(observation_list, before, Some(self.employee_id), found, &mut problems);
            state.included_observation_ids = with_hidden(observation_ids, before, stored);
        }
        problems.or(()).map_err(DomainError::Unprocessable)?;
        patch.content.apply_to(&mut state);
        state.metadata = self.metadata.apply_patch(&patch.metadata);
        found.external_ids.require_free(state.external_id.as_deref(), Some(self.id))?;
        state.period_start = patch.period_start.unwrap_or(state.period_start);
        state.period_end = patch.period_end.unwrap_or(state.period_end);
        if state == *self {
            return Ok(None);
        }
        if state.included_observation_ids != self.included_observation_ids {
            // The update also replaces archived observations, except those that are hidden from the caller.
            state.archived_observation_ids.retain(|id| !shown.archived_observation_ids.contains(id));
        }
        state.updated_at = at.strictly_after(self.updated_at);
        let is_other_content = state.has_other_content_than(self);
        if is_other_content {
            state.edited_by = editor;
            state.editor_ids.extend(editor.filter(|id| !self.editor_ids.contains(id)));
        }
        let notices = if is_other_content { state.change_notices(needs_approval) } else { vec![] };
        let decision = Decision::for_change(self, state, "summary.update", vec![EventType::SummaryUpdated]);
        Ok(Some(Decision { notices, ..decision }))
    }
}

impl Summary {
    /// Returns `true` if a reviewer reads something else: other texts, period or included resources.
    fn has_other_content_than(&self, before: &Self) -> bool {
        (&self.title, &self.body, self.period_start, self.period_end)
            != (&before.title, &before.body, before.period_start, before.period_end)
            || self.included_objective_ids != before.included_objective_ids
            || self.included_observation_ids != before.included_observation_ids
    }
}

/// Returns the requested ids, then stored ids that are hidden from the caller. The ids shown before mean no change.
fn with_hidden<K: Kind>(wanted: Vec<Id<K>>, shown: &[Id<K>], stored: &[Id<K>]) -> Vec<Id<K>> {
    if wanted == shown {
        return stored.to_vec();
    }
    let hidden_ids = stored.iter().filter(|id| !shown.contains(id) && !wanted.contains(id));
    wanted.iter().chain(hidden_ids).copied().collect()
}

/// Returns the objectives of a body. Each objective that does not exist is a separate problem (decision A4).
fn objectives(
    wanted: &[Reference<ObjectiveKind>],
    before: &[ObjectiveId],
    found: &References,
    problems: &mut ValidationErrors,
) -> Vec<ObjectiveId> {
    let check = |id: ObjectiveId| found.objectives.contains(&id).then_some(Ok(()));
    resolve_included("included_objective_ids", wanted, before, check, problems)
}

/// Returns the observations of a body, which must be about the person of the summary. Archived ones may only be kept.
fn observations(
    wanted: &[Reference<ObservationKind>],
    before: &[ObservationId],
    about: Option<EmployeeId>,
    found: &References,
    problems: &mut ValidationErrors,
) -> Vec<ObservationId> {
    let invalid_state = |message: String| Err(ValueError::new(Code::InvalidState, message));
    let check = |id: ObservationId| {
        found.observations.get(&id).map(|observation| match observation {
            _ if Some(observation.employee_id) != about => {
                invalid_state(format!("must be about the person of the summary; {id} is about another person"))
            }
            _ if observation.is_archived => {
                invalid_state(format!("must not be archived when they are added; {id} is archived"))
            }
            _ => Ok(()),
        })
    };
    resolve_included("included_observation_ids", wanted, before, check, problems)
}

/// Returns the ids of a list of references. Ids that were included before are not checked again.
fn resolve_included<K: Kind>(
    field: &str,
    wanted: &[Reference<K>],
    before: &[Id<K>],
    check: impl Fn(Id<K>) -> Option<Result<(), ValueError>>,
    problems: &mut ValidationErrors,
) -> Vec<Id<K>> {
    let ids_before: BTreeSet<_> = before.iter().copied().collect();
    let resolve = |reference: &Reference<K>| {
        let id = reference.id.ok_or_else(|| reference.not_found())?;
        if !ids_before.contains(&id) {
            check(id).ok_or_else(|| reference.not_found())??;
        }
        Ok(id)
    };
    wanted.iter().filter_map(|reference| problems.take(field, resolve(reference))).collect()
}

#[cfg(test)]
mod tests;
