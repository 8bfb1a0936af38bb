//! Key results: the measures of an objective (decision C11).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use super::Objective;
use super::progress::{Quotient, mean_percent};
use crate::decimal::Decimal;
use crate::fields::{StringEnum, string_enum};
use crate::id::KeyResultId;

/// Maximum number of key results of an objective.
pub const MAX_KEY_RESULTS: usize = 10;
/// Maximum length of a title, in characters.
pub const KEY_RESULT_TITLE_CHARS: usize = 200;
/// Maximum length of a unit, in characters.
pub const UNIT_CHARS: usize = 20;
/// Largest weight.
pub const MAX_WEIGHT: i64 = 100;

/// Kind of values that a key result measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Metric {
    /// A number with an optional unit.
    Number,
    /// A percentage.
    Percent,
    /// A fact: 0 until it is true, then 1.
    Boolean,
}

string_enum!(Metric, "KeyResultMetric");

/// A measure of an objective.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KeyResult {
    /// Id of the key result, with the prefix `kr_`.
    pub id: KeyResultId,
    /// Title: the measured value in a few words. It must not be blank.
    pub title: String,
    /// Kind of the values. Immutable.
    pub metric: Metric,
    /// Unit of the values, such as `EUR`. Null if there is none.
    pub unit: Option<String>,
    /// Value at the beginning.
    pub start: Decimal,
    /// Value to reach. It may be below `start`.
    pub target: Decimal,
    /// Value of the last check-in that names the key result. `start` before.
    pub current: Decimal,
    /// Weight in the progress of the objective.
    pub weight: u8,
    /// Part of the way from `start` to `target`, in percent, rounded down.
    pub progress: u8,
    /// Value of the last check-in that names the key result. `None` before the first such check-in.
    #[serde(skip)]
    pub checked: Option<Decimal>,
}

/// A key result as the reviewer of an objective reads it: all members but those that follow from check-ins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "members of `KeyResult`")]
pub struct ReviewedKeyResult {
    pub title: String,
    pub metric: String,
    pub unit: Option<String>,
    pub start: Decimal,
    pub target: Decimal,
    pub weight: u8,
}

impl From<&KeyResult> for ReviewedKeyResult {
    fn from(result: &KeyResult) -> Self {
        let KeyResult { title, metric, unit, start, target, weight, .. } = result;
        let (title, unit) = (title.clone(), unit.clone());
        Self { title, metric: metric.word().to_owned(), unit, start: *start, target: *target, weight: *weight }
    }
}

impl KeyResult {
    fn quotient(&self) -> Quotient {
        Quotient::new(self.start, self.target, self.current)
    }

    /// Returns the key result with the figures that follow from its bounds and from the last check-in.
    #[must_use]
    pub(super) fn with_figures(self) -> Self {
        let result = Self { current: self.checked.unwrap_or(self.start), ..self };
        Self { progress: result.quotient().percent(), ..result }
    }
}

impl Objective {
    /// Returns the objective with its progress computed from the key results. Without key results, its progress is
    /// that of the last check-in that states a progress.
    #[must_use]
    pub fn with_figures(self) -> Self {
        let quotients: Vec<_> = self.key_results.iter().map(|result| (result.quotient(), result.weight)).collect();
        Self { progress: mean_percent(&quotients).or(self.stated_progress), ..self }
    }
}

/// A key result as stores keep it. Decimals are stored as integers, in ten-thousandths.
#[derive(Serialize, Deserialize)]
struct StoredKeyResult {
    id: String,
    title: String,
    metric: String,
    unit: Option<String>,
    start: i64,
    target: i64,
    checked: Option<i64>,
    weight: u8,
}

/// Returns the text that [`parse`] reads.
#[must_use]
pub fn text(results: &[KeyResult]) -> String {
    let rows = results.iter().map(|result| StoredKeyResult {
        id: result.id.to_string(),
        title: result.title.clone(),
        metric: result.metric.word().to_owned(),
        unit: result.unit.clone(),
        start: result.start.units(),
        target: result.target.units(),
        checked: result.checked.map(Decimal::units),
        weight: result.weight,
    });
    serde_json::to_string(&rows.collect::<Vec<_>>()).unwrap_or_default()
}

/// Reads stored key results. Returns `None` for any other text.
#[must_use]
pub fn parse(text: &str) -> Option<Vec<KeyResult>> {
    let rows: Vec<StoredKeyResult> = serde_json::from_str(text).ok()?;
    rows.into_iter().map(from_row).collect()
}

fn from_row(row: StoredKeyResult) -> Option<KeyResult> {
    let start = Decimal::from_units(row.start)?;
    let last_checked = match row.checked {
        None => None,
        Some(units) => Some(Decimal::from_units(units)?),
    };
    let result = KeyResult {
        id: row.id.parse().ok()?,
        title: row.title,
        metric: Metric::from_word(&row.metric).ok()?,
        unit: row.unit,
        start,
        target: Decimal::from_units(row.target)?,
        current: start,
        weight: row.weight,
        progress: 0,
        checked: last_checked,
    };
    Some(result.with_figures())
}
