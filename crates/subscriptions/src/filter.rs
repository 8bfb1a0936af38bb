//! Content filters of a subscription, and the facts of events that they compare (§6.1, decision F13).

use std::collections::{BTreeMap, BTreeSet};

use candor_domain::access::{Caller, PermissionError};
use candor_domain::event::{Event, EventData, EventType};
use candor_domain::fields::{Fields, StringEnum};
use candor_domain::id::{DepartmentId, DepartmentKind, EmployeeId, EmployeeKind};
use candor_domain::objective::Scope;
use candor_domain::observation;
use candor_domain::rule::{self, Field, IdRule, List, Nested, OneOf};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of ids in one member of a content filter.
pub const MAX_FILTER_IDS: usize = 100;

const EMPLOYEES: Field<List<IdRule<EmployeeKind>>> =
    Field::new("employee_id", rule::list(MAX_FILTER_IDS, rule::id()).at_least(1));
const DEPARTMENTS: Field<List<IdRule<DepartmentKind>>> =
    Field::new("department_id", rule::list(MAX_FILTER_IDS, rule::id()).at_least(1));
const TYPE: Field<OneOf<observation::Type>> = Field::new("type", rule::word());
const SCOPES: Field<List<OneOf<Scope>>> =
    Field::new("scope", rule::list(Scope::ALL.len(), rule::word()).at_least(1));

/// The field `filter` of a creation or update.
pub(super) const FILTER: Field<Nested<EventFilter>> = Field::with_about(
    "filter",
    rule::nested(EventFilter::read),
    "A change replaces the whole filter; null removes it. An object without members is no filter.",
);

/// Conditions on the content of events. An event must meet each condition, with one of the condition's values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct EventFilter {
    /// Ids of the people that events may be about. Null for no condition.
    #[serde(rename = "employee_id")]
    pub employee_ids: Option<Vec<EmployeeId>>,
    /// Ids of the departments that the people of events may belong to. Null for no condition.
    #[serde(rename = "department_id")]
    pub department_ids: Option<Vec<DepartmentId>>,
    /// Type of the observations. Null for no condition.
    #[serde(rename = "type")]
    pub kind: Option<observation::Type>,
    /// Scopes of the objectives. Null for no condition.
    #[serde(rename = "scope")]
    pub scopes: Option<Vec<Scope>>,
}

/// The facts of an event that content filters compare. `None` if the event lacks the fact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFacts {
    /// The person that the event is about.
    pub employee_id: Option<EmployeeId>,
    /// The department of that person.
    pub department: DepartmentFact,
    /// The type of the observation.
    pub kind: Option<observation::Type>,
    /// The scope of the objective.
    pub scope: Option<Scope>,
}

/// The department of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DepartmentFact {
    /// The department after the change of the event; `None` if there is none.
    Known(Option<DepartmentId>),
    /// The present department of this person, which the store reads.
    OfPerson(EmployeeId),
}

/// Checks that this caller may use this filter. The events that a filter by department selects tell who belongs to
/// the department, so this filter needs the access to events about people (decision F13).
///
/// # Errors
/// The access that the caller lacks.
pub(super) fn may_filter(caller: &Caller, filter: Option<&EventFilter>) -> Result<(), PermissionError> {
    match filter.and_then(|filter| filter.department_ids.as_ref()) {
        Some(_) => caller.may_read_events_of(EventType::EmployeeUpdated),
        None => Ok(()),
    }
}

impl Default for DepartmentFact {
    fn default() -> Self {
        Self::Known(None)
    }
}

impl EventFilter {
    /// Declares and reads the members of a filter.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            employee_ids: fields.optional(&EMPLOYEES),
            department_ids: fields.optional(&DEPARTMENTS),
            kind: fields.optional(&TYPE),
            scopes: fields.optional(&SCOPES),
        })
    }

    /// Returns the filter, or `None` if it has no condition.
    #[must_use]
    pub fn some(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }

    /// Returns `true` if an event with these facts meets every condition. A department that is still to be read meets
    /// no condition, see [`EventFacts::with_department`].
    #[must_use]
    pub fn matches(&self, facts: &EventFacts) -> bool {
        fn meets<T: PartialEq>(wanted: Option<&[T]>, fact: Option<&T>) -> bool {
            wanted.is_none_or(|wanted| fact.is_some_and(|fact| wanted.contains(fact)))
        }
        let department = match &facts.department {
            DepartmentFact::Known(department) => department.as_ref(),
            DepartmentFact::OfPerson(_) => None,
        };
        meets(self.employee_ids.as_deref(), facts.employee_id.as_ref())
            && meets(self.department_ids.as_deref(), department)
            && self.kind.is_none_or(|kind| facts.kind == Some(kind))
            && meets(self.scopes.as_deref(), facts.scope.as_ref())
    }
}

/// The members of an event's data that are facts.
#[derive(Default, Deserialize)]
struct Data<'a> {
    id: Option<&'a str>,
    employee_id: Option<&'a str>,
    owner_id: Option<&'a str>,
    department_id: Option<&'a str>,
    #[serde(rename = "type")]
    kind: Option<&'a str>,
    scope: Option<&'a str>,
}

impl EventFacts {
    /// Returns the facts of the events of one change, in their order. If one event shows the department of a
    /// person, this is the department of all events about that person.
    #[must_use]
    pub fn from_events(events: &[&Event]) -> Vec<Self> {
        let mut facts: Vec<_> = events.iter().map(|event| Self::from_event(event)).collect();
        if events.len() > 1 {
            let departments: BTreeMap<_, _> = facts
                .iter()
                .filter_map(|facts| match facts.department {
                    DepartmentFact::Known(department) => Some((facts.employee_id?, department)),
                    DepartmentFact::OfPerson(_) => None,
                })
                .collect();
            for facts in &mut facts {
                if let DepartmentFact::OfPerson(person) = facts.department
                    && let Some(department) = departments.get(&person)
                {
                    facts.department = DepartmentFact::Known(*department);
                }
            }
        }
        facts
    }

    /// Returns the facts of one event.
    #[must_use]
    pub fn from_event(event: &Event) -> Self {
        let Some(family) = Family::from_data(event.kind.data()) else { return Self::default() };
        // Only ids and words are read, which have no escapes, so borrowed texts suffice.
        let data: Data<'_> = serde_json::from_str(&event.data).unwrap_or_default();
        let person = match family {
            Family::Person => data.id,
            Family::Objective => data.owner_id,
            Family::Observation | Family::AboutPerson => data.employee_id,
            Family::Department => None,
        };
        let employee_id: Option<EmployeeId> = person.and_then(|id| id.parse().ok());
        let known_department = |id: Option<&str>| DepartmentFact::Known(id.and_then(|id| id.parse().ok()));
        let department = match family {
            Family::Person => known_department(data.department_id),
            Family::Department => known_department(data.id),
            Family::Objective | Family::Observation | Family::AboutPerson => {
                employee_id.map_or_else(DepartmentFact::default, DepartmentFact::OfPerson)
            }
        };
        let kind = data.kind.filter(|_| family == Family::Observation);
        let scope = data.scope.filter(|_| family == Family::Objective);
        Self {
            employee_id,
            department,
            kind: kind.and_then(|word| StringEnum::from_word(word).ok()),
            scope: scope.and_then(|word| StringEnum::from_word(word).ok()),
        }
    }

    /// Returns the facts with the department that was read for the person of the event.
    #[must_use]
    pub fn with_department(self, department: Option<DepartmentId>) -> Self {
        Self { department: DepartmentFact::Known(department), ..self }
    }

    /// Returns the person whose department is still to be read.
    #[must_use]
    pub const fn person_to_read(&self) -> Option<EmployeeId> {
        match self.department {
            DepartmentFact::Known(_) => None,
            DepartmentFact::OfPerson(person) => Some(person),
        }
    }

    /// Returns the people whose departments must be read before these filters can be evaluated.
    #[must_use]
    pub fn people_to_read<'a>(
        facts: &[Self],
        filters: impl IntoIterator<Item = &'a EventFilter>,
    ) -> BTreeSet<EmployeeId> {
        let needs_department = filters.into_iter().any(|filter| filter.department_ids.is_some());
        facts.iter().filter_map(Self::person_to_read).filter(|_| needs_department).collect()
    }

    /// Returns the facts with the department that was read for the person of the event, if it is needed. A person
    /// that is absent from `departments` has no department.
    #[must_use]
    pub fn resolve_department(self, departments: &BTreeMap<EmployeeId, Option<DepartmentId>>) -> Self {
        match self.person_to_read() {
            Some(person) => self.with_department(departments.get(&person).copied().flatten()),
            None => self,
        }
    }
}

/// Kinds of event data, by the members from which the facts of the event are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Observation,
    Objective,
    Person,
    /// Resources with the member `employee_id`.
    AboutPerson,
    Department,
}

impl Family {
    /// Returns the family of what an event carries; `None` for data without facts.
    const fn from_data(data: EventData) -> Option<Self> {
        match data {
            EventData::Observation => Some(Self::Observation),
            EventData::Objective | EventData::CheckedObjective => Some(Self::Objective),
            EventData::Employee => Some(Self::Person),
            EventData::Summary
            | EventData::Assignment
            | EventData::Invitation
            | EventData::ApiKey
            | EventData::Erasure => Some(Self::AboutPerson),
            EventData::Department => Some(Self::Department),
            EventData::Conversation
            | EventData::Message
            | EventData::Attribute
            | EventData::Connector
            | EventData::IdentityProvider
            | EventData::Organization
            | EventData::Webhook
            | EventData::RetentionRun
            | EventData::RemovedIds
            | EventData::TestMessage => None,
        }
    }
}

#[cfg(test)]
mod tests;
