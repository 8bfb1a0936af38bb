//! Creation of assignments (decision G).

use std::collections::BTreeMap;

use super::{Assignment, Content, MAX_REVIEWERS, Status, Submission};
use crate::access::{Caller, PermissionError};
use crate::audit::Target;
use crate::decision::{Decision, Resource};
use crate::event::EventType;
use crate::external_id::{ExternalIdHolders, externally_identified};
use crate::fields::{Fields, Reference};
use crate::id::{AssignmentId, AssignmentKind, EmployeeId, EmployeeKind};
use crate::keyed::{self, Metadata};
use crate::notification::{self, Notice, Recipients, excerpt};
use crate::people;
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::refusal::DomainError;
use crate::rule::{self, Field, List, ReferenceRule, Whole};
use crate::time::Timestamp;
use crate::update::parse_new;

/// Fields that only the service sets.
const READ_ONLY: &[&str] = &["id", "status", "submissions", "submitted_count", "created_at", "updated_at"];

const EMPLOYEE: Field<ReferenceRule<EmployeeKind>> = Field::new("employee_id", rule::reference());
const REQUESTER: Field<ReferenceRule<EmployeeKind>> = Field::with_about(
    "requester_id",
    rule::reference(),
    "A key that acts for a person must give that person or omit the member. Otherwise the response is 403.",
);
const REVIEWERS: Field<List<ReferenceRule<EmployeeKind>>> = Field::with_about(
    "reviewer_ids",
    rule::list(MAX_REVIEWERS, rule::reference()).at_least(1),
    "422 if one does not exist.",
);
const REQUIRED: Field<Whole> = Field::with_about(
    "required_submissions",
    rule::whole(1..=MAX_REVIEWERS as i64),
    "At most the number of reviewers. Default: the number of reviewers.",
);

/// The body of a creation, validated by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    employee: Reference<EmployeeKind>,
    requester: Option<Option<Reference<EmployeeKind>>>,
    content: Content,
    reviewers: Vec<Reference<EmployeeKind>>,
    required_submissions: usize,
    metadata: Metadata,
}

/// Stored facts about the people that a body names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct References {
    /// The status of each person that exists.
    pub people: BTreeMap<EmployeeId, people::Status>,
    /// The assignments that have an external id of the body.
    pub external_ids: ExternalIdHolders<AssignmentKind>,
}

/// Returns the number of required submissions: `wanted`, or `reviewers` if the request names none. Returns an
/// error if `wanted` is larger than `reviewers`.
fn required_count(wanted: Option<i64>, reviewers: usize) -> Result<usize, ValueError> {
    let required_count = wanted.map_or(Ok(reviewers), usize::try_from).unwrap_or(usize::MAX);
    if required_count <= reviewers {
        return Ok(required_count);
    }
    Err(ValueError::new(Code::OutOfRange, format!("must be at most the number of reviewers ({reviewers})")))
}

impl Draft {
    /// Reads the fields of a creation.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let employee = fields.required(&EMPLOYEE);
        let requester = fields.nullable(&REQUESTER);
        let content = Content::read(fields);
        let metadata = keyed::read_new(fields);
        let reviewers = fields.required(&REVIEWERS);
        let count = reviewers.as_ref().map(Vec::len);
        let required_submissions =
            fields.present(&REQUIRED.and(|wanted| required_count(Some(wanted), count.unwrap_or(MAX_REVIEWERS))));
        Some(Self {
            employee: employee?,
            requester,
            content: content?,
            reviewers: reviewers?,
            required_submissions: required_submissions.or(count)?,
            metadata,
        })
    }

    /// Resolves the requester: a bound key requests feedback as its person (decision B5).
    ///
    /// # Errors
    /// [`PermissionError::OtherPerson`].
    pub fn asked_by(mut self, caller: &Caller) -> Result<Self, PermissionError> {
        self.requester = Some(caller.speaker(self.requester.take())?);
        Ok(self)
    }

    /// Returns every person that the body names.
    #[must_use]
    pub fn people(&self) -> Vec<EmployeeId> {
        let one = std::iter::once(&self.employee);
        one.chain(self.requester.iter().flatten()).chain(&self.reviewers).filter_map(|person| person.id).collect()
    }
}

parse_new!(Draft, READ_ONLY);

externally_identified!(Assignment, Draft);

impl Assignment {
    /// Creates an assignment with a notice to each reviewer.
    ///
    /// # Errors
    /// [`DomainError::Unprocessable`] for people who do not exist, and for feedback about a person who has not
    /// accepted the invitation: such a person can have no observations (decision D2). [`DomainError::Conflict`]
    /// for an external id that another assignment has.
    pub fn create(
        id: AssignmentId,
        draft: Draft,
        found: &References,
        at: Timestamp,
    ) -> Result<Decision<Self>, DomainError> {
        let mut problems = ValidationErrors::none();
        let anyone = |person: &Reference<EmployeeKind>| person.resolve(|id| found.people.contains_key(id));
        let check_joined = |id: EmployeeId| match found.people.get(&id) {
            Some(people::Status::PendingInvite) => {
                Err(ValueError::new(Code::InvalidState, "must be a person who has accepted the invitation"))
            }
            _ => Ok(id),
        };
        let employee_id = problems.take("employee_id", anyone(&draft.employee).and_then(check_joined));
        let requester_id = draft.requester.flatten().map(|person| problems.take("requester_id", anyone(&person)));
        let reviewer_ids: Vec<_> =
            draft.reviewers.iter().filter_map(|person| problems.take("reviewer_ids", anyone(person))).collect();
        let (Some(employee_id), true) = (employee_id, problems.is_empty()) else {
            return Err(DomainError::Unprocessable(problems));
        };
        found.external_ids.require_free(draft.content.external_id.as_deref(), None)?;
        let state = Self {
            id,
            employee_id,
            requester_id: requester_id.flatten(),
            title: draft.content.title,
            instructions: draft.content.instructions,
            due_date: draft.content.due_date,
            submissions: reviewer_ids.iter().map(|reviewer| Submission::pending(*reviewer)).collect(),
            reviewer_ids,
            required_submissions: draft.required_submissions,
            status: Status::Open,
            submitted_count: 0,
            created_at: at,
            updated_at: at,
            metadata: draft.metadata,
            external_id: draft.content.external_id,
        };
        let notices = state.reviewer_ids.iter().map(|reviewer| state.request_notice(*reviewer)).collect();
        let fires = vec![EventType::AssignmentCreated];
        Ok(Decision { notices, ..Decision::for_creation(state, "assignment.create", fires) })
    }

    fn request_notice(&self, reviewer: EmployeeId) -> Notice {
        let body = self.instructions.as_deref().map(excerpt).unwrap_or_default();
        self.notice(notification::Type::AssignmentRequested, reviewer, "Feedback wanted", body)
    }

    pub(super) fn notice(&self, kind: notification::Type, to: EmployeeId, what: &str, body: String) -> Notice {
        let target = Target { kind: Self::NAME.to_owned(), id: self.id.to_string() };
        Notice { kind, to: Recipients::Person(to), title: format!("{what}: {}", self.title), body, target }
    }
}
