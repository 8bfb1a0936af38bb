//! Key results in bodies: the list of a creation, and the list of an update, which replaces the stored one.

use super::key_result::{KEY_RESULT_TITLE_CHARS, KeyResult, MAX_KEY_RESULTS, MAX_WEIGHT, Metric, UNIT_CHARS};
use crate::decimal::{Decimal, decimal};
use crate::fields::{Fields, Reference};
use crate::id::{KeyResultId, KeyResultKind};
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::rule::{self, Checked, Field, OneOf, ReferenceRule, Text, Whole};

/// Name of the member.
const NAME: &str = "key_results";
/// Members of an entry that only the service sets.
const READ_ONLY: &[&str] = &["current", "progress"];

const ID: Field<ReferenceRule<KeyResultKind>> =
    Field::with_about("id", rule::reference(), "Names the key result to keep. An entry without `id` is new.");
const TITLE: Field<Text> = Field::with_about(
    "title",
    rule::text(1..=KEY_RESULT_TITLE_CHARS),
    "The measured value in a few words. It must not be blank.",
);
const METRIC: Field<OneOf<Metric>> = Field::with_about("metric", rule::word(), "Default: `number`.");
const UNIT: Field<Text> = Field::with_about("unit", rule::text(1..=UNIT_CHARS), "Only for the metric `number`.");
const START: Field<Checked<Decimal>> =
    Field::with_about("start", decimal(), "Default: 0. Must be absent for the metric `boolean`.");
const TARGET: Field<Checked<Decimal>> = Field::with_about(
    "target",
    decimal(),
    "Required for the metric `number`. Default for `percent`: 100. Must be absent for the metric `boolean`. It \
     differs from `start`.",
);
const WEIGHT: Field<Whole> = Field::with_about("weight", rule::whole(1..=MAX_WEIGHT), "Default: 1.");
const CURRENT: Field<Checked<Decimal>> = Field::with_about(
    "current",
    decimal(),
    "Read-only. The stored value may be sent back unchanged; any other value is refused.",
);
const PROGRESS: Field<Whole> = Field::with_about(
    "progress",
    rule::whole(0..=100),
    "Read-only. The stored value may be sent back unchanged; any other value is refused.",
);

/// An entry of the list in a body. `None` leaves a member unchanged, or at its default for a new key result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    id: Option<Reference<KeyResultKind>>,
    title: Option<String>,
    metric: Option<Metric>,
    unit: Option<Option<String>>,
    start: Option<Decimal>,
    target: Option<Decimal>,
    weight: Option<u8>,
    current: Option<Decimal>,
    progress: Option<i64>,
}

/// Reads the list of a creation. Returns an empty list if the body has none, and `None` if an entry is wrong.
pub(super) fn read_new(fields: &mut Fields) -> Option<Vec<Entry>> {
    let read = |entry: &mut Fields| {
        entry.refuse(&["id"]);
        entry.refuse(READ_ONLY);
        read_entry(entry, None, false)
    };
    let about = "0 to {max} entries.";
    let rule = Field::with_about(NAME, rule::several(0..=MAX_KEY_RESULTS, read), about);
    match fields.present(&rule) {
        None => Some(vec![]),
        Some(entries) => fields.nested(NAME, entries),
    }
}

/// Reads the list of an update. Returns `None` if the body has no list, so that the stored list stays, or if an entry
/// is wrong.
pub(super) fn read_patch(fields: &mut Fields) -> Option<Vec<Entry>> {
    let read = |entry: &mut Fields| {
        let id = entry.present(&ID);
        let is_kept = id.is_some() || entry.is_described();
        if !is_kept {
            entry.refuse(READ_ONLY);
        }
        read_entry(entry, id, is_kept)
    };
    let about = "0 to {max} entries, which replace the stored ones. An entry with the `id` of a stored one \
                 keeps the members that it omits.";
    let rule = Field::with_about(NAME, rule::several(0..=MAX_KEY_RESULTS, read), about);
    let entries = fields.present(&rule).and_then(|entries| fields.nested(NAME, entries))?;
    for (at, entry) in entries.iter().enumerate() {
        let earlier = entries.iter().take(at).filter_map(|earlier| earlier.id.as_ref());
        if entry.id.is_some() && earlier.into_iter().any(|id| Some(id) == entry.id.as_ref()) {
            fields.problem(&place(at, "id"), ValueError::format("given only once"));
        }
    }
    Some(entries)
}

fn place(at: usize, member: &str) -> String {
    format!("{NAME}[{at}].{member}")
}

/// Reads an entry. `is_kept` is `true` for a stored key result, whose members [`check_against`] checks together
/// with the stored members.
fn read_entry(fields: &mut Fields, id: Option<Reference<KeyResultKind>>, is_kept: bool) -> Option<Entry> {
    let title = fields.required_unless(&TITLE, is_kept);
    let (metric, unit) = (fields.present(&METRIC), fields.nullable(&UNIT));
    let (start, target) = (fields.present(&START), fields.present(&TARGET));
    let weight = fields.present(&WEIGHT).and_then(|weight| u8::try_from(weight).ok());
    let (current, progress) =
        if is_kept { (fields.present(&CURRENT), fields.present(&PROGRESS)) } else { (None, None) };
    let entry = Entry { id, title, metric, unit, start, target, weight, current, progress };
    if !is_kept {
        entry.check_new(fields);
    } else if entry.start.is_some() && entry.start == entry.target {
        fields.problem("target", no_way());
    }
    (is_kept || entry.title.is_some()).then_some(entry)
}

fn no_way() -> ValueError {
    ValueError::new(Code::OutOfRange, "must differ from start")
}

fn only_of_numbers() -> ValueError {
    ValueError::new(Code::NotPossible, "must be omitted unless the metric is number")
}

fn not_of_booleans() -> ValueError {
    ValueError::new(Code::NotPossible, "must be omitted for the metric boolean, which runs from 0 to 1")
}

/// Returns the default bounds of a metric. A number has no default target.
const fn default_bounds(metric: Metric) -> (Decimal, Option<Decimal>) {
    match metric {
        Metric::Number => (Decimal::ZERO, None),
        Metric::Percent => (Decimal::ZERO, Some(Decimal::HUNDRED)),
        Metric::Boolean => (Decimal::ZERO, Some(Decimal::ONE)),
    }
}

impl Entry {
    /// Checks the members of a new key result with one another.
    fn check_new(&self, fields: &mut Fields) {
        let metric = self.metric.unwrap_or(Metric::Number);
        if metric != Metric::Number && matches!(self.unit, Some(Some(_))) {
            fields.problem("unit", only_of_numbers());
        }
        if metric == Metric::Boolean {
            for (name, value) in [("start", self.start), ("target", self.target)] {
                if value.is_some() {
                    fields.problem(name, not_of_booleans());
                }
            }
            return;
        }
        if fields.has_problem("start") || fields.has_problem("target") {
            return;
        }
        let (start, target) = default_bounds(metric);
        match self.target.or(target) {
            None => fields.problem("target", ValueError::required()),
            Some(target) if target == self.start.unwrap_or(start) => fields.problem("target", no_way()),
            Some(_) => {}
        }
    }

    fn find_stored<'s>(&self, stored: &'s [KeyResult]) -> Option<&'s KeyResult> {
        let id = self.id.as_ref()?.id?;
        stored.iter().find(|result| result.id == id)
    }

    /// Creates a new key result.
    fn create(self, id: KeyResultId) -> KeyResult {
        let metric = self.metric.unwrap_or(Metric::Number);
        let (start, target) = default_bounds(metric);
        let start = self.start.unwrap_or(start);
        let result = KeyResult {
            id,
            title: self.title.unwrap_or_default(),
            metric,
            unit: self.unit.flatten(),
            start,
            target: self.target.or(target).unwrap_or(Decimal::ONE),
            current: start,
            weight: self.weight.unwrap_or(1),
            progress: 0,
            checked: None,
        };
        result.with_figures()
    }

    /// Returns a stored key result with the members of the entry.
    fn applied_to(self, stored: &KeyResult) -> KeyResult {
        let result = KeyResult {
            title: self.title.unwrap_or_else(|| stored.title.clone()),
            unit: self.unit.unwrap_or_else(|| stored.unit.clone()),
            start: self.start.unwrap_or(stored.start),
            target: self.target.unwrap_or(stored.target),
            weight: self.weight.unwrap_or(stored.weight),
            ..stored.clone()
        };
        result.with_figures()
    }

    /// Adds the problems that only the stored metric shows.
    fn check_metric(&self, at: usize, stored: &KeyResult, problems: &mut ValidationErrors) {
        if stored.metric != Metric::Number && matches!(self.unit, Some(Some(_))) {
            problems.add(place(at, "unit"), only_of_numbers());
        }
        let bounds = [("start", self.start, stored.start), ("target", self.target, stored.target)];
        for (name, given, stored_value) in bounds {
            if stored.metric == Metric::Boolean && given.is_some_and(|given| given != stored_value) {
                problems.add(place(at, name), not_of_booleans());
            }
        }
    }
}

/// Returns the number of entries that are new key results.
pub(super) fn count_new(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| entry.id.is_none()).count()
}

/// Checks a list against the stored one: read-only members must have their stored value, and each start must differ
/// from its target.
pub(super) fn check_against(entries: &[Entry], stored: &[KeyResult], fields: &mut Fields) {
    for (at, entry) in entries.iter().enumerate() {
        let Some(stored_result) = entry.find_stored(stored) else { continue };
        let read_only = [
            ("metric", entry.metric.is_some_and(|metric| metric != stored_result.metric)),
            ("current", entry.current.is_some_and(|current| current != stored_result.current)),
            ("progress", entry.progress.is_some_and(|progress| progress != i64::from(stored_result.progress))),
        ];
        for (name, is_other) in read_only {
            if is_other {
                fields.problem(&place(at, name), ValueError::new(Code::ReadOnly, "cannot be changed"));
            }
        }
        let is_one_given = entry.start.is_some() != entry.target.is_some();
        let (start, target) =
            (entry.start.unwrap_or(stored_result.start), entry.target.unwrap_or(stored_result.target));
        if stored_result.metric != Metric::Boolean && is_one_given && start == target {
            fields.problem(&place(at, "target"), no_way());
        }
    }
}

/// Returns the key results of a creation. `ids` has an id for each of them.
pub(super) fn create(entries: Vec<Entry>, ids: &[KeyResultId]) -> Vec<KeyResult> {
    entries.into_iter().zip(ids).map(|(entry, id)| entry.create(*id)).collect()
}

/// Returns the key results after an update. `ids` has an id for each new key result.
///
/// # Errors
/// The problems that only the stored key results show.
pub(super) fn replace(
    entries: &[Entry],
    stored: &[KeyResult],
    ids: &[KeyResultId],
) -> Result<Vec<KeyResult>, ValidationErrors> {
    let (mut results, mut problems) = (Vec::with_capacity(entries.len()), ValidationErrors::none());
    let mut ids = ids.iter();
    for (at, entry) in entries.iter().enumerate() {
        match (&entry.id, entry.find_stored(stored)) {
            (Some(_), Some(stored)) => {
                entry.check_metric(at, stored, &mut problems);
                results.push(entry.clone().applied_to(stored));
            }
            (Some(unknown), None) => problems.add(place(at, "id"), unknown.not_found()),
            (None, _) => results.extend(ids.next().map(|id| entry.clone().create(*id))),
        }
    }
    problems.or(results)
}

#[cfg(test)]
mod tests;
