//! Creating and updating observations (§4.1).

use std::collections::BTreeMap;

use super::{MAX_ATTRIBUTES, NOTE_CHARS, Observation, TEXT_CHARS, Type};
use crate::decision::Decision;
use crate::event::EventType;
use crate::fields::{Fields, Reference};
use crate::id::{AttributeId, AttributeKind, EmployeeId, EmployeeKind, ObservationId};
use crate::json::Object;
use crate::people::Status;
use crate::problem::{Code, Flaw, Problems};
use crate::refusal::Refusal;
use crate::rule::{self, Checked, Field, List, OneOf, Refers, Text};
use crate::time::{Date, Timestamp};

/// What the service sets, and no request may.
const READ_ONLY: &[&str] = &["id", "created_at", "updated_at", "archived_at"];
/// What is set once, when the observation is created (decision A7).
const IMMUTABLE: &[&str] = &["employee_id", "author_id", "type", "observation_date"];

const EMPLOYEE: Field<Refers<EmployeeKind>> = Field::new("employee_id", rule::reference("the person it is about"), "");
const AUTHOR: Field<Refers<EmployeeKind>> = Field::new("author_id", rule::reference("the person who writes it"), "");
const TYPE: Field<OneOf<Type>> = Field::new("type", rule::word(), "Whether it is about a strength or an opportunity.");
const OBSERVATION: Field<Text> =
    Field::new("observation", rule::text(1..=TEXT_CHARS), "What was observed, in plain text that is not blank.");
const IMPACT: Field<Text> =
    Field::new("impact", rule::text(0..=NOTE_CHARS), "What came of it, in plain text; null for nothing.");
const RECOMMENDED_ACTION: Field<Text> = Field::new(
    "recommended_action",
    rule::text(0..=NOTE_CHARS),
    "What should be done, in plain text; null for nothing.",
);
const ATTRIBUTES: Field<List<Refers<AttributeKind>>> = Field::new(
    "attribute_ids",
    rule::list(MAX_ATTRIBUTES, rule::reference("an attribute")),
    "Its attributes, at most {max}, none of them twice; 422 for one that is not there.",
);
const OBSERVATION_DATE: Field<Checked<Date>> = Field::new(
    "observation_date",
    rule::date(),
    "The day that it is about; today in UTC unless given, and not in the future.",
);

/// The body of a creation, valid in itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Whom it is about.
    pub employee: Reference<EmployeeKind>,
    /// Who writes it.
    pub author: Option<Reference<EmployeeKind>>,
    /// Strength or opportunity.
    pub kind: Type,
    /// What was observed.
    pub observation: String,
    /// What came of it.
    pub impact: Option<String>,
    /// What should be done.
    pub recommended_action: Option<String>,
    /// Its tags.
    pub attributes: Vec<Reference<AttributeKind>>,
    /// The day it is about.
    pub observation_date: Date,
}

/// The body of an update, valid in itself. `None` keeps what is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    /// What was observed.
    pub observation: Option<String>,
    /// What came of it.
    pub impact: Option<Option<String>>,
    /// What should be done.
    pub recommended_action: Option<Option<String>>,
    /// Its tags.
    pub attributes: Option<Vec<Reference<AttributeKind>>>,
}

/// What is stored of the things that a body refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct References {
    /// The status of each person that was found.
    pub people: BTreeMap<EmployeeId, Status>,
    /// Each attribute that was found, and whether it is archived.
    pub attributes: BTreeMap<AttributeId, bool>,
}

impl Draft {
    /// The fields of a creation.
    pub fn read(fields: &mut Fields, today: Date) -> Option<Self> {
        let employee = fields.required(&EMPLOYEE);
        let author = fields.optional(&AUTHOR);
        Self::read_of(fields, today, employee, author)
    }

    /// The fields of a creation beside the person it is about and the one who writes it.
    pub fn read_of(
        fields: &mut Fields,
        today: Date,
        employee: Option<Reference<EmployeeKind>>,
        author: Option<Reference<EmployeeKind>>,
    ) -> Option<Self> {
        let kind = fields.required(&TYPE);
        let observation = fields.required(&OBSERVATION);
        let impact = fields.optional(&IMPACT);
        let recommended_action = fields.optional(&RECOMMENDED_ACTION);
        let attributes = fields.present(&ATTRIBUTES);
        let observation_date = fields.optional(&OBSERVATION_DATE.and(|date| not_after(date, today)));
        Some(Self {
            employee: employee?,
            author,
            kind: kind?,
            observation: observation?,
            impact,
            recommended_action,
            attributes: attributes.unwrap_or_default(),
            observation_date: observation_date.unwrap_or(today),
        })
    }

    /// Reads the body of a creation.
    ///
    /// # Errors
    /// Every field that is wrong.
    pub fn parse(body: Object, today: Date) -> Result<Self, Problems> {
        Fields::of_new(body, READ_ONLY, |fields| Self::read(fields, today))
    }
}

fn not_after(date: Date, today: Date) -> Result<Date, Flaw> {
    if date > today {
        Err(Flaw::new(Code::OutOfRange, format!("must not be after today, {today} (UTC)")))
    } else {
        Ok(date)
    }
}

impl Patch {
    /// The fields of an update.
    pub fn read(fields: &mut Fields) -> Self {
        Self {
            observation: fields.present(&OBSERVATION),
            impact: fields.nullable(&IMPACT),
            recommended_action: fields.nullable(&RECOMMENDED_ACTION),
            attributes: fields.present(&ATTRIBUTES),
        }
    }

    /// Reads the body of an update of `stored`. Of an archived one nothing is read: [`Observation::update`] refuses it,
    /// whatever it says (decision A8).
    ///
    /// # Errors
    /// Every field that is wrong, or that cannot be changed.
    pub fn parse(body: Object, stored: &Observation) -> Result<Self, Problems> {
        if stored.archived_at.is_some() {
            return Ok(Self::default());
        }
        Fields::of_update(body, &[READ_ONLY, IMMUTABLE], stored, Self::read)
    }
}

impl Observation {
    /// Records an observation (§4.1).
    ///
    /// # Errors
    /// [`Refusal::Unprocessable`] for people and attributes that cannot be referred to.
    pub fn create(
        id: ObservationId,
        draft: Draft,
        found: &References,
        at: Timestamp,
    ) -> Result<Decision<Self>, Refusal> {
        let mut problems = Problems::none();
        let employee_id = problems.take("employee_id", person(&draft.employee, found));
        let author_id = draft.author.map(|it| problems.take("author_id", anyone(&it, found)));
        let attribute_ids = attributes(&draft.attributes, &[], found, &mut problems);
        let (Some(employee_id), true) = (employee_id, problems.is_empty()) else {
            return Err(Refusal::Unprocessable(problems));
        };
        let state = Self {
            id,
            employee_id,
            author_id: author_id.flatten(),
            kind: draft.kind,
            observation: draft.observation,
            impact: draft.impact,
            recommended_action: draft.recommended_action,
            attribute_ids,
            observation_date: draft.observation_date,
            created_at: at,
            updated_at: at,
            archived_at: None,
        };
        Ok(Decision::created(state, "observation.create", vec![EventType::ObservationCreated]))
    }

    /// Updates an active observation; `None` if that changes nothing (decision A8).
    ///
    /// # Errors
    /// [`Refusal::Conflict`] for an archived one (decision D9), [`Refusal::Unprocessable`] for attributes that cannot
    /// be referred to.
    pub fn update(&self, patch: &Patch, found: &References, at: Timestamp) -> Result<Option<Decision<Self>>, Refusal> {
        self.must_be_active("update")?;
        let mut state = self.clone();
        if let Some(wanted) = &patch.attributes {
            let mut problems = Problems::none();
            let attribute_ids = attributes(wanted, &self.attribute_ids, found, &mut problems);
            state.attribute_ids = problems.or(attribute_ids).map_err(Refusal::Unprocessable)?;
        }
        if let Some(it) = &patch.observation {
            state.observation.clone_from(it);
        }
        if let Some(it) = &patch.impact {
            state.impact.clone_from(it);
        }
        if let Some(it) = &patch.recommended_action {
            state.recommended_action.clone_from(it);
        }
        if state == *self {
            return Ok(None);
        }
        state.updated_at = at.strictly_after(self.updated_at);
        Ok(Some(Decision::changed(self, state, "observation.update", vec![EventType::ObservationUpdated])))
    }
}

fn anyone(wanted: &Reference<EmployeeKind>, found: &References) -> Result<EmployeeId, Flaw> {
    wanted.found(|id| found.people.contains_key(id))
}

/// The subject: anyone who has joined, also if they have left since (§2.1, decision D2).
fn person(wanted: &Reference<EmployeeKind>, found: &References) -> Result<EmployeeId, Flaw> {
    let id = anyone(wanted, found)?;
    if found.people.get(&id) == Some(&Status::PendingInvite) {
        return Err(Flaw::new(Code::InvalidState, "has not accepted the invitation yet"));
    }
    Ok(id)
}

/// Attributes of the library; an archived one only where it was before (decisions G). Each that cannot be referred to is
/// a problem of its own (decision A4).
fn attributes(
    wanted: &[Reference<AttributeKind>],
    before: &[AttributeId],
    found: &References,
    problems: &mut Problems,
) -> Vec<AttributeId> {
    let one = |it: &Reference<AttributeKind>| {
        let id = it.id.ok_or_else(|| it.not_found())?;
        match found.attributes.get(&id) {
            None => Err(it.not_found()),
            Some(true) if !before.contains(&id) => Err(Flaw::new(Code::InvalidState, format!("{id} is archived"))),
            Some(_) => Ok(id),
        }
    };
    wanted.iter().filter_map(|it| problems.take("attribute_ids", one(it))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::observation;
    use super::*;
    use crate::json::Value;
    use ulid::Ulid;

    const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

    fn parse(body: &str) -> Result<Draft, Vec<(String, Code)>> {
        let Ok(Value::Object(members)) = serde_json::from_str(body) else { panic!("{body}") };
        Draft::parse(members, NOW.date())
            .map_err(|it| it.as_slice().iter().map(|it| (it.field.clone(), it.code)).collect())
    }

    fn body(more: &str) -> String {
        format!(r#"{{"employee_id":"emp_00000000000000000000000002","type":"strength"{more}}}"#)
    }

    #[test]
    fn texts_are_bounded_in_characters() {
        let long = |n: usize| "é".repeat(n);
        for (more, code) in [
            (format!(r#","observation":"{}""#, long(4000)), None),
            (format!(r#","observation":"{}""#, long(4001)), Some(("observation", Code::TooLong))),
            (r#","observation":"""#.to_owned(), Some(("observation", Code::TooShort))),
            (r#","observation":null"#.to_owned(), Some(("observation", Code::Required))),
            (format!(r#","observation":"x","impact":"{}""#, long(2000)), None),
            (format!(r#","observation":"x","impact":"{}""#, long(2001)), Some(("impact", Code::TooLong))),
            (
                format!(r#","observation":"x","recommended_action":"{}""#, long(2001)),
                Some(("recommended_action", Code::TooLong)),
            ),
            (r#","observation":"x","attribute_ids":null"#.to_owned(), Some(("attribute_ids", Code::Required))),
            (
                r#","observation":"x","attribute_ids":["a","a"]"#.to_owned(),
                Some(("attribute_ids", Code::InvalidFormat)),
            ),
            (
                format!(
                    r#","observation":"x","attribute_ids":[{}]"#,
                    (0..13).map(|it| format!("\"{it}\"")).collect::<Vec<_>>().join(",")
                ),
                Some(("attribute_ids", Code::TooLong)),
            ),
            (r#","observation":"x","observation_date":"2023-11-14""#.to_owned(), None),
            (
                r#","observation":"x","observation_date":"2023-11-15""#.to_owned(),
                Some(("observation_date", Code::OutOfRange)),
            ),
            (r#","observation":"x","archived_at":null"#.to_owned(), Some(("archived_at", Code::ReadOnly))),
        ] {
            let wanted = code.map(|(field, code)| vec![(field.to_owned(), code)]);
            assert_eq!(parse(&body(&more)).err(), wanted, "{more:.60}");
        }
    }

    #[test]
    fn an_observation_is_about_someone_who_has_joined() {
        let draft = parse(&body(r#","observation":"x""#)).unwrap();
        let about = |status: Option<Status>| {
            let people = status.map(|it| (EmployeeId::from_ulid(Ulid(2)), it)).into_iter().collect();
            let found = References { people, ..References::default() };
            Observation::create(ObservationId::from_ulid(Ulid(9)), draft.clone(), &found, NOW).map_err(|it| {
                let Refusal::Unprocessable(problems) = it else { panic!("{it:?}") };
                problems.as_slice()[0].code
            })
        };
        assert!(about(Some(Status::Active)).is_ok());
        assert!(about(Some(Status::Deactivated)).is_ok());
        assert_eq!(about(Some(Status::PendingInvite)).unwrap_err(), Code::InvalidState);
        assert_eq!(about(None).unwrap_err(), Code::NotFoundInOrganization);
    }

    #[test]
    fn an_archived_attribute_stays_where_it_is_but_is_not_used_anew() {
        let attribute = AttributeId::from_ulid(Ulid(7));
        let found = References { attributes: [(attribute, true)].into(), ..References::default() };
        let wanted = Reference { text: attribute.to_string(), id: Some(attribute) };
        let patch = Patch { attributes: Some(vec![wanted]), ..Patch::default() };
        assert!(matches!(observation().update(&patch, &found, NOW), Err(Refusal::Unprocessable(_))));
        let tagged = Observation { attribute_ids: vec![attribute], ..observation() };
        assert_eq!(tagged.update(&patch, &found, NOW), Ok(None), "nothing changes");
    }

    #[test]
    fn every_attribute_that_cannot_be_referred_to_is_named() {
        let [good, archived, absent] = [1, 2, 3].map(|it| AttributeId::from_ulid(Ulid(it)));
        let reference = |id: AttributeId| Reference { text: id.to_string(), id: Some(id) };
        let nonsense = Reference { text: "nonsense".to_owned(), id: None };
        let wanted = vec![reference(absent), reference(good), nonsense, reference(archived)];
        let person = (EmployeeId::from_ulid(Ulid(2)), Status::Active);
        let found = References { people: [person].into(), attributes: [(good, false), (archived, true)].into() };
        let named = |refused: Refusal| {
            let Refusal::Unprocessable(it) = refused else { panic!("{refused:?}") };
            it.as_slice().iter().map(|it| (it.field.clone(), it.code, it.value.clone())).collect::<Vec<_>>()
        };
        let field = || "attribute_ids".to_owned();
        let expected = vec![
            (field(), Code::NotFoundInOrganization, Some(absent.to_string())),
            (field(), Code::NotFoundInOrganization, Some("nonsense".to_owned())),
            (field(), Code::InvalidState, None),
        ];
        let patch = Patch { attributes: Some(wanted.clone()), ..Patch::default() };
        assert_eq!(named(observation().update(&patch, &found, NOW).unwrap_err()), expected);
        let draft = Draft { attributes: wanted, ..parse(&body(r#","observation":"x""#)).unwrap() };
        let id = ObservationId::from_ulid(Ulid(9));
        assert_eq!(named(Observation::create(id, draft, &found, NOW).unwrap_err()), expected);
    }

    #[test]
    fn an_archived_observation_refuses_any_update_equal_values_too() {
        let archived = observation().archive(NOW).unwrap().state;
        assert!(matches!(archived.update(&Patch::default(), &References::default(), NOW), Err(Refusal::Conflict(_))));
        let Ok(Value::Object(wrong)) = serde_json::from_str(r#"{"observation":null,"whatever":1}"#) else { panic!() };
        assert_eq!(Patch::parse(wrong.clone(), &archived), Ok(Patch::default()), "what it says is not looked at");
        assert!(Patch::parse(wrong, &observation()).is_err());
    }

    #[test]
    fn what_changes_is_audited_and_announced_and_what_does_not_is_not() {
        let patch = Patch { impact: Some(Some("More trust".to_owned())), ..Patch::default() };
        let decision = observation().update(&patch, &References::default(), NOW).unwrap().unwrap();
        assert_eq!(decision.events, [EventType::ObservationUpdated]);
        assert_eq!(decision.audit.changes.keys().collect::<Vec<_>>(), ["impact"]);
        assert_eq!(decision.state.update(&patch, &References::default(), NOW), Ok(None));
    }
}
