//! The results as a table, for the terminal and for the document.

use crate::store::Store;

/// Condition for a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Limit {
    AtLeast(f64),
    AtMost(f64),
    /// No condition: the value is only reported.
    None,
}

impl Limit {
    fn is_met_by(self, value: f64) -> bool {
        match self {
            Self::AtLeast(limit) => value >= limit,
            Self::AtMost(limit) => value <= limit,
            Self::None => true,
        }
    }
}

/// A result of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) what: String,
    /// `None` if the result does not depend on the store.
    pub(crate) store: Option<Store>,
    /// Absolute figures of the measurement.
    pub(crate) measured: String,
    /// Absolute figures that the measurement is compared with.
    pub(crate) against: String,
    pub(crate) value: f64,
    /// `×` or a unit.
    pub(crate) unit: &'static str,
    pub(crate) limit: Limit,
}

const HEADS: [&str; 7] = ["What", "Store", "Measured", "Compared with", "Result", "Limit", "Met"];

impl Line {
    /// Creates a result on one store. `figures` are the measurement and the figure with which it is compared.
    pub(crate) fn new(
        what: impl Into<String>,
        store: Store,
        figures: [String; 2],
        (value, unit): (f64, &'static str),
        limit: Limit,
    ) -> Self {
        let [measured, against] = figures;
        Self { what: what.into(), store: Some(store), measured, against, value, unit, limit }
    }

    pub(crate) fn is_met(&self) -> bool {
        self.limit.is_met_by(self.value)
    }

    pub(crate) fn cells(&self) -> [String; 7] {
        let (sign, limit) = match self.limit {
            Limit::AtLeast(limit) => ("≥ ", Some(limit)),
            Limit::AtMost(limit) => ("≤ ", Some(limit)),
            Limit::None => ("", None),
        };
        let with_unit = |value: f64| format!("{} {}", format_short(value), self.unit);
        [
            self.what.clone(),
            self.store.map_or_else(String::new, |store| store.to_string()),
            self.measured.clone(),
            self.against.clone(),
            with_unit(self.value),
            limit.map_or_else(String::new, |limit| format!("{sign}{}", with_unit(limit))),
            limit.map_or("", |_| if self.is_met() { "yes" } else { "no" }).to_owned(),
        ]
    }
}

/// Formats small values with two digits after the point and large ones without.
fn format_short(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// Formats a rate with groups of thousands and `/s`.
pub(crate) fn per_second(rate: f64) -> String {
    group_thousands(rate) + "/s"
}

/// Formats a whole number with separated thousands.
pub(crate) fn group_thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    String::from_utf8_lossy(&groups.join(&b',')).into_owned()
}

/// Returns the lines as a Markdown table.
pub(crate) fn table(lines: &[Line]) -> String {
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let heads = row(&HEADS.map(str::to_owned)) + &"|---".repeat(HEADS.len()) + "|\n";
    lines.iter().fold(heads, |table, line| table + &row(&line.cells()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn line(value: f64, limit: Limit) -> Line {
        Line::new("GET", Store::Sqlite, ["2/s", "1/s"].map(str::to_owned), (value, "×"), limit)
    }

    #[test]
    fn limit_is_met_at_the_edge_and_missed_past_the_edge() {
        assert!(line(0.75, Limit::AtLeast(0.75)).is_met() && !line(0.74, Limit::AtLeast(0.75)).is_met());
        assert!(line(5.0, Limit::AtMost(5.0)).is_met() && !line(5.01, Limit::AtMost(5.0)).is_met());
        assert!(!line(f64::NAN, Limit::AtLeast(0.75)).is_met() && !line(f64::NAN, Limit::AtMost(5.0)).is_met());
    }

    #[test]
    fn table_has_a_row_for_each_line() {
        let lines = [line(0.5, Limit::AtLeast(1.1)), line(2.0, Limit::None)];
        let expected_table = "\
| What | Store | Measured | Compared with | Result | Limit | Met |
|---|---|---|---|---|---|---|
| GET | SQLite | 2/s | 1/s | 0.50 × | ≥ 1.10 × | no |
| GET | SQLite | 2/s | 1/s | 2.00 × |  |  |
";
        assert_eq!(table(&lines), expected_table);
    }
}
