//! What came of all parts together.

use candor_domain::csv::Part;
use serde_json::{Value, json};

use crate::output::table;

/// Errors shown to people; the rest is counted. With `--json` all are there.
const SHOWN: usize = 200;

/// The counters of all parts, and the rows that failed.
#[derive(Debug, Default)]
pub(super) struct Tally {
    created: u64,
    updated: u64,
    deactivated: u64,
    skipped: usize,
    pub(super) errors: Vec<Value>,
    warnings: Vec<Value>,
    plan: Vec<Value>,
}

impl Tally {
    /// Begins with rows that are not sent, because a later row has their address.
    pub(super) fn skipping(skipped: usize) -> Self {
        Self { skipped, ..Self::default() }
    }

    /// Adds the answer to a part; its rows get the numbers that they have in the whole file.
    pub(super) fn add(&mut self, part: &Part, mut answer: Value) {
        let data = &answer["data"];
        let count = |name: &str| data[name].as_u64().unwrap_or_default();
        self.created += count("created");
        self.updated += count("updated");
        self.deactivated += count("deactivated");
        self.skipped += usize::try_from(count("skipped")).unwrap_or_default();
        let numbered = |rows: &mut Value| {
            let mut rows: Vec<Value> = rows.as_array_mut().map(std::mem::take).unwrap_or_default();
            for row in &mut rows {
                let here = row["row_number"].as_u64().and_then(|it| u32::try_from(it).ok()).unwrap_or_default();
                row["row_number"] = json!(part.number(here));
            }
            rows
        };
        self.errors.append(&mut numbered(&mut answer["data"]["errors"]));
        self.plan.append(&mut numbered(&mut answer["plan"]));
        self.errors.sort_by_key(|it| it["row_number"].as_u64());
        self.plan.sort_by_key(|it| it["row_number"].as_u64());
        if self.warnings.is_empty() {
            self.warnings = answer["warnings"].as_array().cloned().unwrap_or_default();
        }
    }

    /// The answer to programs, like that of the service.
    pub(super) fn object(&self, dry_run: bool) -> Value {
        let mut object = json!({"data": {
            "created": self.created, "updated": self.updated, "deactivated": self.deactivated,
            "skipped": self.skipped, "errors": self.errors,
        }});
        if !self.warnings.is_empty() {
            object["warnings"] = json!(self.warnings);
        }
        if dry_run {
            object["plan"] = json!(self.plan);
        }
        object
    }

    /// The answer to people.
    pub(super) fn text(&self, dry_run: bool, is_split_dry_run: bool) -> String {
        let Self { created, updated, deactivated, skipped, errors, .. } = self;
        let heading = if dry_run { "Nothing was written. An import would give: " } else { "" };
        let mut text = format!(
            "{heading}{created} created, {updated} updated, {deactivated} deactivated, {skipped} skipped, {} failed\n",
            errors.len()
        );
        for warning in &self.warnings {
            let (column, message) = (&warning["column"], &warning["message"]);
            text.push_str(&format!("The column {column} {}\n", message.as_str().unwrap_or_default()));
        }
        if is_split_dry_run {
            text.push_str("The file is sent in parts: managers of an earlier part are not there in a dry run.\n");
        }
        if errors.is_empty() {
            return text;
        }
        let cell = |row: &Value, name: &str| match &row[name] {
            Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
            other => other.to_string(),
        };
        let columns = ["row_number", "email", "code", "message"];
        let mut rows = vec![["ROW", "EMAIL", "CODE", "MESSAGE"].map(str::to_owned).to_vec()];
        rows.extend(errors.iter().take(SHOWN).map(|row| columns.map(|it| cell(row, it)).to_vec()));
        text.push_str(&format!("\n{}\n", table(&rows)));
        if errors.len() > SHOWN {
            text.push_str(&format!("and {} more; --json shows them all\n", errors.len() - SHOWN));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_add_up_and_rows_have_the_numbers_of_the_whole_file() {
        let answer = |row: u32| {
            json!({"data": {"created": 2, "updated": 1, "deactivated": 0, "skipped": 3, "errors": [
                {"row_number": row, "email": "a@example.com", "code": "required", "message": "x"},
            ]}})
        };
        let mut tally = Tally::skipping(1);
        tally.add(&Part { bytes: vec![], numbers: vec![9, 12] }, answer(3));
        tally.add(&Part { bytes: vec![], numbers: vec![4] }, answer(2));
        let object = tally.object(false);
        let counters = ["created", "updated", "deactivated", "skipped"].map(|it| object["data"][it].as_u64());
        assert_eq!(counters, [4, 2, 0, 7].map(Some));
        let rows: Vec<_> = tally.errors.iter().map(|it| it["row_number"].as_u64()).collect();
        assert_eq!(rows, [Some(4), Some(12)]);
        let text = tally.text(false, false);
        assert!(text.contains("4 created, 2 updated, 0 deactivated, 7 skipped, 2 failed"), "{text}");
        assert!(text.lines().last().is_some_and(|it| it.starts_with("12")), "{text}");
    }
}
