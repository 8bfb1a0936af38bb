//! Creation and updates of objectives (§4.2, decisions C4 to C7).

use super::key_result_body::{self, Entry};
use super::lifecycle::StatusChange;
use super::parent::{self, PARENT, StoredParent};
use super::{Content, ContentPatch, Family, Objective, Scope, Status};
use crate::access::PermissionError;
use crate::audit::AuditDraft;
use crate::decision::Decision;
use crate::event::EventType;
use crate::external_id::{ExternalIdHolders, externally_identified};
use crate::fields::{Fields, Reference, StringEnum};
use crate::id::{EmployeeKind, KeyResultId, ObjectiveId, ObjectiveKind};
use crate::json::Object;
use crate::keyed::{self, KeyedMap, Metadata, MetadataPatch};
use crate::people::Role;
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::refusal::DomainError;
use crate::rule::{self, Checked, Field, OneOf, ReferenceRule};
use crate::time::{Date, Timestamp};
use crate::update::{Update, parse_update};

/// Fields that only the service sets.
const READ_ONLY: &[&str] = &[
    "id",
    "progress",
    "confidence",
    "last_check_in_at",
    "linked_summary_ids",
    "created_at",
    "updated_at",
    "submitted_at",
    "approved_at",
    "changed_since_approval",
    "completed_at",
];
/// Fields that cannot change after the creation.
const IMMUTABLE: &[&str] = &["scope", "owner_id"];

/// The statuses that an objective can be created with (decision C4).
pub const FIRST_STATUSES: &[Status] = &[Status::Proposed, Status::Approved, Status::InProgress];
/// Name of the set [`FIRST_STATUSES`] in the OpenAPI document.
pub const FIRST_STATUSES_NAME: &str = "ObjectiveFirstStatus";

const OWNER: Field<ReferenceRule<EmployeeKind>> = Field::new("owner_id", rule::reference());
const PERIOD_START: Field<Checked<Date>> = Field::new("period_start", rule::date());
const PERIOD_END: Field<Checked<Date>> = Field::new("period_end", rule::date());
const FIRST_STATUS: Field<OneOf<Status>> = Field::new("status", rule::one_of(FIRST_STATUSES_NAME, FIRST_STATUSES));
const STATUS: Field<OneOf<Status>> = Field::with_about(
    "status",
    rule::word(),
    "Only moves between `approved` and `in_progress` are possible; 409 for all others.",
);

/// The body of a creation, validated by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields named after their types")]
pub struct Draft {
    pub scope: Scope,
    pub owner: Reference<EmployeeKind>,
    /// The objective that the new one supports.
    pub parent: Option<Reference<ObjectiveKind>>,
    key_results: Vec<Entry>,
    content: Content,
    period_start: Date,
    period_end: Date,
    status: Status,
    metadata: Metadata,
}

/// The body of an update, validated by itself. `None` leaves a field unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    /// The objective that this one supports; `Some(None)` for none.
    pub parent: Option<Option<Reference<ObjectiveKind>>>,
    key_results: Option<Vec<Entry>>,
    content: ContentPatch,
    period_start: Option<Date>,
    period_end: Option<Date>,
    status: Option<Status>,
    metadata: MetadataPatch,
}

/// Stored facts about the owner that a body names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields named after their types")]
pub struct StoredOwner {
    pub role: Role,
    /// `true` if the caller may set objectives for the owner (decision B5).
    pub in_reach: bool,
}

/// Stored facts about the resources that a body names or collides with, and new ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct References {
    /// The owner of a creation, if they exist.
    pub owner: Option<StoredOwner>,
    /// The parent that the body names, if it exists and the caller sees it.
    pub parent: Option<StoredParent>,
    /// An id for each new key result of the body.
    pub key_result_ids: Vec<KeyResultId>,
    /// The objectives that have an external id of the body.
    pub external_ids: ExternalIdHolders<ObjectiveKind>,
}

/// Returns the problem of a period that ends before it starts.
pub(crate) fn find_period_flaw(start: Date, end: Date) -> Option<ValueError> {
    (end < start).then(|| ValueError::new(Code::OutOfRange, format!("must not be before period_start, {start}")))
}

impl Draft {
    /// Reads the fields of a creation in one of the two families.
    pub fn read(fields: &mut Fields, family: Family) -> Option<Self> {
        let scope = Field::new("scope", rule::one_of(family.scopes_name(), family.scopes()));
        let scope = fields.present_or(&scope, family.default_scope());
        let owner = fields.required(&OWNER);
        let parent = fields.optional(&PARENT);
        let key_results = key_result_body::read_new(fields);
        let content = Content::read(fields);
        let period_start = fields.required(&PERIOD_START);
        let period_end = fields.required(&PERIOD_END);
        let status = fields.present_or(&FIRST_STATUS, Status::Proposed);
        let metadata = keyed::read_new(fields);
        if let Some(flaw) = period_start.zip(period_end).and_then(|(start, end)| find_period_flaw(start, end)) {
            fields.problem("period_end", flaw);
        }
        Some(Self {
            scope,
            owner: owner?,
            parent,
            key_results: key_results?,
            content: content?,
            period_start: period_start?,
            period_end: period_end?,
            status,
            metadata,
        })
    }

    /// Reads the body of a creation in one of the two families.
    ///
    /// # Errors
    /// One problem for each wrong field.
    pub fn parse(family: Family, body: Object) -> Result<Self, ValidationErrors> {
        Fields::parse_new(body, READ_ONLY, |fields| Self::read(fields, family))
    }

    /// Returns the number of new key results.
    #[must_use]
    pub const fn new_key_results(&self) -> usize {
        self.key_results.len()
    }

    /// Returns the status of the new objective.
    pub(super) const fn first_status(&self) -> Status {
        self.status
    }
}

impl Patch {
    /// Reads the fields of an update.
    pub fn read(fields: &mut Fields) -> Self {
        Self {
            parent: fields.nullable(&PARENT),
            key_results: key_result_body::read_patch(fields),
            content: ContentPatch::read(fields),
            period_start: fields.present(&PERIOD_START),
            period_end: fields.present(&PERIOD_END),
            status: fields.present(&STATUS),
            metadata: keyed::read_patch::<Metadata>(fields),
        }
    }

    /// Returns the number of new key results.
    #[must_use]
    pub fn new_key_results(&self) -> usize {
        self.key_results.as_deref().map_or(0, key_result_body::count_new)
    }
}

parse_update!(Patch, [READ_ONLY, IMMUTABLE]);

externally_identified!(Objective, Draft, Patch);

impl Update<Patch> {
    /// Checks the update against the stored objective, as the caller sees it. For a finished objective, returns only
    /// the wanted status, because [`Objective::update`] refuses the update and names this status (decision A8). A
    /// parent that equals the one that the caller sees is left out, so that a hidden parent stays (decision C13).
    ///
    /// # Errors
    /// One problem for each wrong or immutable field, and for a period that would end before it starts and
    /// too many keys of metadata.
    pub fn resolve_with(&self, stored: &Objective) -> Result<Patch, ValidationErrors> {
        let (mut patch, mut fields) = self.compare(stored);
        if stored.is_finished() {
            return Ok(Patch { status: patch.status, ..Patch::default() });
        }
        let start = patch.period_start.unwrap_or(stored.period_start);
        let end = patch.period_end.unwrap_or(stored.period_end);
        if let Some(flaw) = find_period_flaw(start, end) {
            fields.problem("period_end", flaw);
        }
        keyed::check_merged(&stored.metadata, &patch.metadata, &mut fields);
        key_result_body::check_against(
            patch.key_results.as_deref().unwrap_or_default(),
            &stored.key_results,
            &mut fields,
        );
        patch.parent =
            patch.parent.take().filter(|parent| !parent::is_shown_as(stored.parent_id, parent.as_ref()));
        fields.finish(Some(patch))
    }
}

impl Objective {
    /// Creates an objective (§4.2).
    ///
    /// # Errors
    /// [`PermissionError::OwnerNotAdmin`] for an org objective whose owner is not an org admin.
    /// [`PermissionError::NotBelow`] if the caller may not set objectives for the owner.
    /// [`DomainError::Unprocessable`] for an owner who does not exist and for a parent that is not possible.
    /// [`DomainError::Conflict`] for an external id that another objective has.
    pub fn create(
        id: ObjectiveId,
        draft: Draft,
        found: &References,
        at: Timestamp,
    ) -> Result<Decision<Self>, DomainError> {
        let not_found = || DomainError::unprocessable("owner_id", draft.owner.not_found());
        let (Some(owner_id), Some(owner)) = (draft.owner.id, found.owner) else { return Err(not_found()) };
        if !owner.in_reach {
            return Err(PermissionError::NotBelow.into());
        }
        if draft.scope == Scope::Org && owner.role != Role::OrgAdmin {
            return Err(PermissionError::OwnerNotAdmin.into());
        }
        found.external_ids.require_free(draft.content.external_id.as_deref(), None)?;
        let parent_id = parent::require(draft.scope, draft.parent.as_ref(), found.parent)?;
        let mut state = Self {
            id,
            scope: draft.scope,
            owner_id,
            title: draft.content.title,
            description: draft.content.description,
            status: draft.status,
            period_start: draft.period_start,
            period_end: draft.period_end,
            key_results: key_result_body::create(draft.key_results, &found.key_result_ids),
            progress: None,
            confidence: None,
            last_check_in_at: None,
            parent_id,
            linked_summary_ids: vec![],
            created_at: at,
            updated_at: at,
            submitted_at: None,
            approved_at: (draft.status != Status::Proposed).then_some(at),
            changed_since_approval: false,
            completed_at: None,
            reviewed: None,
            held_back: false,
            stated_progress: None,
            metadata: draft.metadata,
            external_id: draft.content.external_id,
        };
        state = state.with_figures();
        state.reviewed = state.approved_at.map(|_| state.content());
        Ok(Decision::for_creation(state, "objective.create", vec![EventType::ObjectiveCreated]))
    }

    /// Updates the objective. Returns `None` if nothing changes (decision A8). With `needs_approval`, a change of
    /// title, description, period or key results after the approval is marked, and the owner's manager gets a
    /// notice of the first such change. During a review, the manager gets a notice of each such change, because
    /// they may have read the objective before the change (decision C10).
    ///
    /// # Errors
    /// [`DomainError::Conflict`] for a finished objective, even if nothing would change, for a status that PATCH
    /// cannot reach, and for an external id that another objective has. [`DomainError::Unprocessable`] for a
    /// parent that is not possible, and for problems of key results that only the stored key results show.
    pub fn update(
        &self,
        patch: &Patch,
        found: &References,
        needs_approval: bool,
        at: Timestamp,
    ) -> Result<Option<Decision<Self>>, DomainError> {
        if self.is_finished() {
            let attempt = patch.status.map_or("update", StringEnum::word);
            return Err(DomainError::transition("status", self.status.word(), attempt));
        }
        let mut state = match patch.status.filter(|status| *status != self.status) {
            None => self.clone(),
            Some(Status::InProgress) => self.apply_move(StatusChange::Start, at)?,
            // `approved` only moves an objective back from `in_progress`; approval has its own endpoint (§3.1 rule 2).
            Some(Status::Approved) => self.apply_move(StatusChange::HoldBack, at)?,
            Some(other) => return Err(DomainError::transition("status", self.status.word(), other.word())),
        };
        let is_moved = state.status != self.status;
        patch.content.clone().apply_to(&mut state);
        state.period_start = patch.period_start.unwrap_or(state.period_start);
        state.period_end = patch.period_end.unwrap_or(state.period_end);
        state.metadata = self.metadata.apply_patch(&patch.metadata);
        if let Some(entries) = &patch.key_results {
            let key_results = key_result_body::replace(entries, &self.key_results, &found.key_result_ids);
            state.key_results = key_results.map_err(DomainError::Unprocessable)?;
            state = state.with_figures();
        }
        if let Some(parent) = &patch.parent {
            state.parent_id = parent::require(self.scope, parent.as_ref(), found.parent)?;
        }
        found.external_ids.require_free(state.external_id.as_deref(), Some(self.id))?;
        let is_other_content = state.content() != self.content() || state.key_results != self.key_results;
        let is_approved = self.status != Status::Proposed;
        state.changed_since_approval |= is_other_content && is_approved && needs_approval;
        let is_edited = is_other_content
            || state.metadata != self.metadata
            || state.external_id != self.external_id
            || state.parent_id != self.parent_id;
        if !is_moved && !is_edited {
            return Ok(None);
        }
        state.updated_at = at.strictly_after(self.updated_at);
        let mut events = vec![];
        if is_edited {
            events.push(EventType::ObjectiveUpdated);
        }
        if is_moved {
            events.push(EventType::ObjectiveStatusChanged);
        }
        let audit = AuditDraft::new(&state, "objective.update").with_changes(self, &state);
        let is_first = state.changed_since_approval && !self.changed_since_approval;
        let is_read_meanwhile = is_other_content && needs_approval && self.is_in_review();
        let notices = (is_first || is_read_meanwhile).then(|| state.change_notice()).into_iter().collect();
        Ok(Some(Decision { state, events, audit, notices }))
    }
}

#[cfg(test)]
mod tests;
