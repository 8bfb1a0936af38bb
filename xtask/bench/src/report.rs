//! The results as a table, for the terminal and for the document.

use crate::options::Store;
use std::fmt::Write;

/// What a value must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Limit {
    AtLeast(f64),
    AtMost(f64),
    /// It is only told.
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

/// One result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) what: String,
    /// Absent where the store plays no part.
    pub(crate) store: Option<Store>,
    /// What was measured, in absolute figures, and what it is compared with.
    pub(crate) measured: String,
    pub(crate) against: String,
    pub(crate) value: f64,
    /// Behind the value: `×`, or a unit.
    pub(crate) unit: &'static str,
    pub(crate) limit: Limit,
}

const HEADS: [&str; 7] = ["What", "Store", "Measured", "Compared with", "Result", "Limit", "Met"];

impl Line {
    pub(crate) fn is_met(&self) -> bool {
        self.limit.is_met_by(self.value)
    }

    pub(crate) fn cells(&self) -> [String; 7] {
        let (sign, limit) = match self.limit {
            Limit::AtLeast(limit) => ("≥ ", Some(limit)),
            Limit::AtMost(limit) => ("≤ ", Some(limit)),
            Limit::None => ("", None),
        };
        let value = |it: f64| format!("{} {}", short(it), self.unit);
        [
            self.what.clone(),
            self.store.map_or_else(String::new, |it| it.to_string()),
            self.measured.clone(),
            self.against.clone(),
            value(self.value),
            limit.map_or_else(String::new, |it| format!("{sign}{}", value(it))),
            match (limit, self.is_met()) {
                (None, _) => String::new(),
                (_, true) => "yes".to_owned(),
                (_, false) => "no".to_owned(),
            },
        ]
    }
}

/// Two digits behind the point for what is small, none for what is large.
fn short(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// A rate.
pub(crate) fn per_second(rate: f64) -> String {
    grouped(rate) + "/s"
}

/// A whole number with its thousands apart.
pub(crate) fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let first = digits.len() % 3;
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at % 3 == first % 3 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The lines as a Markdown table whose columns line up.
pub(crate) fn table(lines: &[Line]) -> String {
    let rows: Vec<[String; 7]> =
        std::iter::once(HEADS.map(str::to_owned)).chain(lines.iter().map(Line::cells)).collect();
    let widths: [usize; 7] =
        std::array::from_fn(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or_default());
    let mut out = String::new();
    for (number, row) in rows.iter().enumerate() {
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(out, "| {cell:width$} ");
        }
        out.push_str("|\n");
        if number == 0 {
            for width in widths {
                let _ = write!(out, "|{}", "-".repeat(width + 2));
            }
            out.push_str("|\n");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(value: f64, limit: Limit) -> Line {
        Line {
            what: "GET".to_owned(),
            store: Some(Store::Sqlite),
            measured: "2/s".to_owned(),
            against: "1/s".to_owned(),
            value,
            unit: "×",
            limit,
        }
    }

    #[test]
    fn a_limit_is_met_at_its_edge_and_missed_past_it() {
        assert!(line(0.75, Limit::AtLeast(0.75)).is_met() && !line(0.74, Limit::AtLeast(0.75)).is_met());
        assert!(line(5.0, Limit::AtMost(5.0)).is_met() && !line(5.01, Limit::AtMost(5.0)).is_met());
        assert!(!line(f64::NAN, Limit::AtLeast(0.75)).is_met() && !line(f64::NAN, Limit::AtMost(5.0)).is_met());
    }

    #[test]
    fn the_table_has_a_row_for_each_line() {
        let lines = [line(0.5, Limit::AtLeast(1.1)), line(2.0, Limit::None)];
        let wanted = "\
| What | Store  | Measured | Compared with | Result | Limit    | Met |
|------|--------|----------|---------------|--------|----------|-----|
| GET  | SQLite | 2/s      | 1/s           | 0.50 × | ≥ 1.10 × | no  |
| GET  | SQLite | 2/s      | 1/s           | 2.00 × |          |     |
";
        assert_eq!(table(&lines), wanted);
    }

    #[test]
    fn thousands_are_apart() {
        let table =
            [(0.4, "0/s"), (999.0, "999/s"), (1000.0, "1,000/s"), (31415.9, "31,416/s"), (1_234_567.0, "1,234,567/s")];
        for (rate, text) in table {
            assert_eq!(per_second(rate), text);
        }
    }
}
