//! Check-ins: append-only records of where an objective stands (decision C12).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use super::{KeyResult, Metric, Objective, REMARK_CHARS, Status};
use crate::access::{Caller, PermissionError};
use crate::audit::AuditDraft;
use crate::decimal::{self, Decimal};
use crate::decision::{Decision, Resource};
use crate::fields::{Fields, Reference, StringEnum, string_enum};
use crate::id::{CheckInId, CheckInKind, EmployeeId, EmployeeKind, KeyResultId, KeyResultKind, ObjectiveId};
use crate::json::Value;
use crate::page::{Key, SortBy, SortKey, Sortable};
use crate::params::{ListRequest, Params};
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::refusal::DomainError;
use crate::rule::{self, Checked, Field, OneOf, ReferenceRule, Shape, Text, Whole};
use crate::time::Timestamp;
use crate::update::parse_new;

const READ_ONLY: &[&str] = &["id", "objective_id", "owner_id", "created_at"];
const KEY_RESULTS: &str = "key_results";

const PROGRESS: Field<Whole> = Field::with_about(
    "progress",
    rule::whole(0..=100),
    "Only for an objective without key results; 422 otherwise, because it follows from them.",
);
const CONFIDENCE: Field<OneOf<Confidence>> = Field::new("confidence", rule::word());
const NOTE: Field<Text> = Field::new("note", rule::text(1..=REMARK_CHARS));
const AUTHOR: Field<ReferenceRule<EmployeeKind>> = Field::with_about(
    "author_id",
    rule::reference(),
    "A key that acts for a person writes as that person; another person or null returns 403.",
);
const KEY_RESULT_ID: Field<ReferenceRule<KeyResultKind>> =
    Field::with_about("id", rule::reference(), "Key result of the objective.");
const CURRENT: Field<Checked<Measured>> = Field::with_about(
    "current",
    rule::rule(read_measured, || Shape::DecimalOrFlag),
    "Value now. For the metric `boolean` 0, 1, `false` or `true`.",
);

/// Expectation about the end of an objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Confidence {
    /// The target will be reached.
    OnTrack,
    /// The target may be missed.
    AtRisk,
    /// The target will be missed without a change.
    OffTrack,
}

string_enum!(Confidence, "ObjectiveConfidence");

/// A value that a check-in states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measured {
    Number(Decimal),
    Flag(bool),
}

fn read_measured(value: &Value) -> Result<Measured, ValueError> {
    if let Value::Bool(flag) = value {
        Ok(Measured::Flag(*flag))
    } else {
        decimal::read(value).map(Measured::Number)
    }
}

/// A key result whose value a check-in has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "CheckedKeyResult")]
pub struct CheckedKeyResult {
    /// Id of the key result, with the prefix `kr_`.
    pub id: KeyResultId,
    /// Title of the key result at the time of the check-in.
    pub title: String,
    /// Value before the check-in.
    pub from: Decimal,
    /// Value after the check-in.
    pub to: Decimal,
}

/// A record of where an objective stands. Immutable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckIn {
    /// Id of the check-in, with the prefix `chk_`.
    pub id: CheckInId,
    /// Objective of the check-in.
    pub objective_id: ObjectiveId,
    /// Owner of the objective, who never changes. A copy of the data finds the check-ins about an erased person by
    /// this id.
    pub owner_id: EmployeeId,
    /// Author of the check-in. Null if the request names no author.
    pub author_id: Option<EmployeeId>,
    /// Progress of the objective after the check-in, in percent. Null if none is known.
    pub progress: Option<u8>,
    /// Confidence as stated. Null if the check-in states none.
    pub confidence: Option<Confidence>,
    /// Note in plain text. Null if there is none.
    pub note: Option<String>,
    /// Key results whose value changed.
    pub key_results: Vec<CheckedKeyResult>,
    /// Time of the check-in.
    pub created_at: Timestamp,
}

impl Resource for CheckIn {
    type Kind = CheckInKind;

    fn id(&self) -> CheckInId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.created_at
    }
}

/// Data of the event `objective.checked_in`: the objective with the check-in.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "CheckedInObjective")]
pub struct CheckedInObjective<'a> {
    /// The objective after the check-in, as GET shows it.
    #[serde(flatten)]
    pub objective: &'a Objective,
    /// The check-in.
    pub check_in: &'a CheckIn,
}

/// A value of a key result in a body.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Measurement {
    id: Reference<KeyResultKind>,
    current: Measured,
}

/// The body of a check-in, validated without the stored objective.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckInDraft {
    /// The author. `None` if the field is absent, `Some(None)` if the field is null.
    author: Option<Option<Reference<EmployeeKind>>>,
    progress: Option<u8>,
    confidence: Option<Confidence>,
    note: Option<String>,
    measurements: Vec<Measurement>,
}

fn read_measurement(fields: &mut Fields) -> Option<Measurement> {
    let (id, current) = (fields.required(&KEY_RESULT_ID), fields.required(&CURRENT));
    Some(Measurement { id: id?, current: current? })
}

fn place(at: usize, member: &str) -> String {
    format!("{KEY_RESULTS}[{at}].{member}")
}

impl CheckInDraft {
    /// Reads the fields of a check-in.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let author = fields.nullable(&AUTHOR);
        let progress = fields.optional(&PROGRESS).and_then(|progress| u8::try_from(progress).ok());
        let (confidence, note) = (fields.optional(&CONFIDENCE), fields.optional(&NOTE));
        let measurements = Field::with_about(
            KEY_RESULTS,
            rule::several(0..=super::MAX_KEY_RESULTS, read_measurement),
            "Key results that the request does not name keep their values.",
        );
        let measurements = match fields.present(&measurements) {
            None => Some(vec![]),
            Some(read) => fields.nested(KEY_RESULTS, read),
        };
        let measurements = measurements?;
        for (at, measurement) in measurements.iter().enumerate() {
            if measurements.iter().take(at).any(|earlier| earlier.id == measurement.id) {
                fields.problem(&place(at, "id"), ValueError::format("given only once"));
            }
        }
        let is_empty = progress.is_none() && confidence.is_none() && note.is_none() && measurements.is_empty();
        if is_empty && !fields.has_problems() {
            let message = "is required unless confidence, note or key_results is present";
            fields.problem("progress", ValueError::new(Code::Required, message));
        }
        Some(Self { author, progress, confidence, note, measurements })
    }

    /// Returns the draft with its author resolved: a bound key writes as its person (decision B5).
    ///
    /// # Errors
    /// [`PermissionError::OtherPerson`] if a bound key names another author, or null.
    pub fn written_by(self, caller: &Caller) -> Result<Self, PermissionError> {
        let author = caller.speaker(self.author)?;
        Ok(Self { author: Some(author), ..self })
    }

    /// Returns the reference to the author.
    #[must_use]
    pub fn author(&self) -> Option<&Reference<EmployeeKind>> {
        self.author.as_ref()?.as_ref()
    }
}

parse_new!(CheckInDraft, READ_ONLY);

impl Measurement {
    /// Returns the value for a key result.
    fn value_for(&self, result: &KeyResult) -> Result<Decimal, ValueError> {
        match (self.current, result.metric) {
            (Measured::Flag(flag), Metric::Boolean) => Ok(if flag { Decimal::ONE } else { Decimal::ZERO }),
            (Measured::Flag(_), Metric::Number | Metric::Percent) => {
                Err(ValueError::format("a number, not a boolean"))
            }
            (Measured::Number(value), Metric::Boolean) if value != Decimal::ZERO && value != Decimal::ONE => {
                Err(ValueError::new(Code::OutOfRange, "must be 0, 1, false or true"))
            }
            (Measured::Number(value), Metric::Number | Metric::Percent | Metric::Boolean) => Ok(value),
        }
    }
}

impl Objective {
    /// Adds a check-in to the objective. Returns the objective with its new figures, and the decision that stores the
    /// check-in. `author_exists` is `true` if the author of the draft exists.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] unless the objective is approved or in progress; [`DomainError::Unprocessable`] for an
    /// unknown author or key result, a value that the metric does not permit, and a progress for an objective with key
    /// results.
    pub fn check_in(
        &self,
        id: CheckInId,
        draft: CheckInDraft,
        author_exists: bool,
        at: Timestamp,
    ) -> Result<(Self, Decision<CheckIn>), DomainError> {
        if !matches!(self.status, Status::Approved | Status::InProgress) {
            return Err(DomainError::transition("status", self.status.word(), "check_in"));
        }
        let mut problems = ValidationErrors::none();
        if let Some(author) = draft.author().filter(|_| !author_exists) {
            problems.add("author_id", author.not_found());
        }
        if draft.progress.is_some() && !self.key_results.is_empty() {
            let message = "must be omitted for an objective with key results; state the values of the key results";
            problems.add("progress", ValueError::new(Code::NotPossible, message));
        }
        let (key_results, checked) = self.apply_measurements(&draft.measurements, &mut problems);
        problems.or(()).map_err(DomainError::Unprocessable)?;
        let checked_at = at.strictly_after(self.updated_at);
        let state = Self {
            key_results,
            stated_progress: draft.progress.or(self.stated_progress),
            confidence: draft.confidence.or(self.confidence),
            last_check_in_at: Some(checked_at),
            updated_at: checked_at,
            ..self.clone()
        };
        let state = state.with_figures();
        let check_in = CheckIn {
            id,
            objective_id: self.id,
            author_id: draft.author().and_then(|author| author.id),
            progress: state.progress,
            confidence: draft.confidence,
            note: draft.note,
            key_results: checked,
            created_at: checked_at,
            owner_id: self.owner_id,
        };
        let audit = AuditDraft::new(&state, "objective.check_in").with_changes(self, &state);
        Ok((state, Decision { state: check_in, events: vec![], audit, notices: vec![] }))
    }

    /// Returns all key results, with these values, and the key results whose values changed. Adds a problem for
    /// each unknown key result, and for each value that the metric does not permit.
    fn apply_measurements(
        &self,
        measurements: &[Measurement],
        problems: &mut ValidationErrors,
    ) -> (Vec<KeyResult>, Vec<CheckedKeyResult>) {
        let (mut results, mut checked) = (self.key_results.clone(), vec![]);
        for (at, measurement) in measurements.iter().enumerate() {
            let Some(result) = results.iter_mut().find(|result| Some(result.id) == measurement.id.id) else {
                problems.add(place(at, "id"), measurement.id.not_found());
                continue;
            };
            let Some(to) = problems.take(&place(at, "current"), measurement.value_for(result)) else { continue };
            let from = result.current;
            if from != to {
                checked.push(CheckedKeyResult { id: result.id, title: result.title.clone(), from, to });
            }
            *result = KeyResult { checked: Some(to), ..result.clone() }.with_figures();
        }
        (results, checked)
    }
}

/// A changed key result as stores keep it. Decimals are stored as integers, in ten-thousandths.
#[derive(Serialize, Deserialize)]
struct StoredChecked {
    id: String,
    title: String,
    from: i64,
    to: i64,
}

/// Returns the text that [`parse_checked`] reads.
#[must_use]
pub fn checked_text(results: &[CheckedKeyResult]) -> String {
    let rows = results.iter().map(|result| StoredChecked {
        id: result.id.to_string(),
        title: result.title.clone(),
        from: result.from.units(),
        to: result.to.units(),
    });
    serde_json::to_string(&rows.collect::<Vec<_>>()).unwrap_or_default()
}

/// Reads the stored key results of a check-in. Returns `None` for any other text.
#[must_use]
pub fn parse_checked(text: &str) -> Option<Vec<CheckedKeyResult>> {
    let rows: Vec<StoredChecked> = serde_json::from_str(text).ok()?;
    let to_key_result = |row: StoredChecked| {
        let (from, to) = (Decimal::from_units(row.from)?, Decimal::from_units(row.to)?);
        Some(CheckedKeyResult { id: row.id.parse().ok()?, title: row.title, from, to })
    };
    rows.into_iter().map(to_key_result).collect()
}

/// Reads the parameters of the list of check-ins of an objective.
pub fn read_list(objective: ObjectiveId, params: &mut Params) -> ListRequest<(), ()> {
    params.list::<CheckIn, _, _>(&format!("check-ins of {objective}"), (), vec![])
}

impl Sortable for CheckIn {
    const ORDERS_NAME: &'static str = "CheckInSort";
    const ORDERS: &'static [SortKey<Self>] =
        &[SortKey::descending_by(SortBy::CreatedAt, |check_in| Key::Time(check_in.created_at))];
}

#[cfg(test)]
mod tests;
