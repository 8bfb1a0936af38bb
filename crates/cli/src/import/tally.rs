//! Results of an import, per part and in total.

use candor_people_csv::{FailedRows, Part};
use serde_json::{Value, json};

use super::plan::{cell, changes};
use crate::output::{count_noun, printable, table};

/// Maximum number of rows in a table of text output; further rows are only counted. `--json` has all rows.
pub(super) const SHOWN: usize = 200;

/// State of one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartState {
    /// Not received by the service, or rejected entirely.
    No,
    /// Sent without an answer, so the service may have received it.
    Unanswered,
    /// Answered: all rows except the failed ones are imported.
    Answered,
}

impl PartState {
    const fn word(self) -> &'static str {
        match self {
            Self::No => "not_sent",
            Self::Unanswered => "unanswered",
            Self::Answered => "applied",
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    created: u64,
    updated: u64,
    deactivated: u64,
    skipped: u64,
    failed: u64,
}

#[derive(Debug)]
struct PartTally {
    rows: usize,
    sent: PartState,
    counts: Counts,
}

/// Counters of all parts, and the failed rows.
#[derive(Debug, Default)]
pub(super) struct Tally {
    parts: Vec<PartTally>,
    duplicates: usize,
    begun: bool,
    failed: FailedRows,
    pub(super) errors: Vec<Value>,
    warnings: Vec<Value>,
    plan: Vec<Value>,
    /// `true` if the plan of a part ends early.
    plan_has_more: bool,
}

impl Tally {
    /// Starts a tally with the row counts of the parts. `duplicates` counts rows that are not sent, because a
    /// later row has the same address.
    pub(super) fn new(rows: impl Iterator<Item = usize>, duplicates: usize) -> Self {
        let part = |rows| PartTally { rows, sent: PartState::No, counts: Counts::default() };
        Self { parts: rows.map(part).collect(), duplicates, begun: true, ..Self::default() }
    }

    /// Sets the state of a part.
    pub(super) fn mark(&mut self, part: usize, sent: PartState) {
        if let Some(it) = self.parts.get_mut(part) {
            it.sent = sent;
        }
    }

    /// Adds the answer to a part. Row numbers are converted to those of the whole file, also in messages.
    pub(super) fn add(&mut self, number: usize, part: &Part, mut response: Value) {
        let data = &response["data"];
        let count = |name: &str| data[name].as_u64().unwrap_or_default();
        let counts = Counts {
            created: count("created"),
            updated: count("updated"),
            deactivated: count("deactivated"),
            skipped: count("skipped"),
            failed: data["errors"].as_array().map_or(0, |errors| errors.len() as u64),
        };
        if let Some(it) = self.parts.get_mut(number) {
            (it.sent, it.counts) = (PartState::Answered, counts);
        }
        let take_rows = |rows: &mut Value| rows.as_array_mut().map(std::mem::take).unwrap_or_default();
        let (mut errors, mut plan) =
            (take_rows(&mut response["data"]["errors"]), take_rows(&mut response["plan"]));
        self.failed.convert(part, &mut errors);
        for row in &mut plan {
            let row_number = row["row_number"].as_u64().and_then(|number| u32::try_from(number).ok());
            row["row_number"] = json!(part.number(row_number.unwrap_or_default()));
        }
        self.errors.append(&mut errors);
        self.plan.append(&mut plan);
        self.plan_has_more |= response["plan_has_more"] == json!(true);
        self.errors.sort_by_key(|error| error["row_number"].as_u64());
        self.plan.sort_by_key(|plan| plan["row_number"].as_u64());
        for mut warning in take_rows(&mut response["warnings"]) {
            warning["message"] = json!(part.renumber_rows(warning["message"].as_str().unwrap_or_default()));
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    /// Returns `true` once the file has been split into parts.
    pub(super) const fn has_begun(&self) -> bool {
        self.begun
    }

    /// Returns `true` if a part was sent but not answered.
    pub(super) fn is_open(&self) -> bool {
        self.parts.iter().any(|part| part.sent == PartState::Unanswered)
    }

    /// Returns the number of imported rows.
    pub(super) fn rows_in(&self) -> u64 {
        let acknowledged_parts = self.parts.iter().filter(|part| part.sent == PartState::Answered);
        acknowledged_parts.map(|part| (part.rows as u64).saturating_sub(part.counts.failed)).sum()
    }

    fn rows(&self) -> usize {
        self.parts.iter().map(|part| part.rows).sum()
    }

    fn rows_sent(&self) -> usize {
        self.parts.iter().filter(|part| part.sent != PartState::No).map(|part| part.rows).sum()
    }

    fn counts(&self) -> Counts {
        let begin = Counts { skipped: self.duplicates as u64, ..Counts::default() };
        self.parts.iter().map(|part| part.counts).fold(begin, |sum, counts| Counts {
            created: sum.created + counts.created,
            updated: sum.updated + counts.updated,
            deactivated: sum.deactivated + counts.deactivated,
            skipped: sum.skipped + counts.skipped,
            failed: sum.failed + counts.failed,
        })
    }

    fn is_complete(&self) -> bool {
        self.begun && self.parts.iter().all(|part| part.sent == PartState::Answered)
    }

    /// Returns the JSON output: the service's answer, and the state of the parts.
    pub(super) fn object(&self, dry_run: bool, error: Option<&str>) -> Value {
        let Counts { created, updated, deactivated, skipped, .. } = self.counts();
        let mut object = json!({
            "data": {
                "created": created, "updated": updated, "deactivated": deactivated, "skipped": skipped,
                "errors": self.errors,
            },
            "import": {
                "complete": self.is_complete(), "error": error,
                "rows": self.rows(), "rows_sent": self.rows_sent(), "rows_applied": if dry_run { 0 } else { self.rows_in() },
                "parts": self.parts.iter().enumerate().map(|(at, part)| json!({
                    "part": at + 1, "rows": part.rows, "state": part.sent.word(),
                    "created": part.counts.created, "updated": part.counts.updated,
                    "deactivated": part.counts.deactivated, "skipped": part.counts.skipped, "failed": part.counts.failed,
                })).collect::<Vec<_>>(),
            },
        });
        if !self.warnings.is_empty() {
            object["warnings"] = json!(self.warnings);
        }
        if dry_run {
            object["plan"] = json!(self.plan);
            if self.plan_has_more {
                object["plan_has_more"] = json!(true);
            }
        }
        object
    }

    /// Returns the text output.
    pub(super) fn text(&self, dry_run: bool) -> String {
        let Counts { created, updated, deactivated, skipped, failed } = self.counts();
        let heading = if dry_run { "Nothing was written. An import would give: " } else { "" };
        let mut text = format!(
            "{heading}{created} created, {updated} updated, {deactivated} deactivated, {skipped} skipped, {failed} failed\n"
        );
        for warning in &self.warnings {
            let (column, message) = (&warning["column"], &warning["message"]);
            let message = printable(message.as_str().unwrap_or_default());
            text.push_str(&format!("The column {} {message}\n", printable(&column.to_string())));
        }
        if dry_run && self.parts.len() > 1 {
            text.push_str(
                "The file is sent in parts, and a dry run writes none of them: a row whose manager is new in an earlier \
                 part is counted as failed here, but not by the import itself.\n",
            );
        }
        text.push_str(&self.parts_text(dry_run));
        text.push_str(&changes(&self.plan));
        if self.plan_has_more {
            text.push_str(
                "The service has shown the changes of some rows only; a smaller file shows all of them.\n",
            );
        }
        text.push_str(&self.errors_text());
        text
    }

    /// Returns the table of parts; empty if there is only one part and it is complete.
    fn parts_text(&self, dry_run: bool) -> String {
        if self.is_complete() && self.parts.len() < 2 {
            return String::new();
        }
        let heading = ["PART", "ROWS", "CREATED", "UPDATED", "DEACTIVATED", "SKIPPED", "FAILED", "STATE"];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        rows.extend(self.parts.iter().enumerate().map(|(at, part)| {
            let numbers = [
                part.counts.created,
                part.counts.updated,
                part.counts.deactivated,
                part.counts.skipped,
                part.counts.failed,
            ];
            let state = match (part.sent, dry_run) {
                (PartState::Answered, false) => "applied",
                (PartState::Answered, true) => "tried",
                (PartState::Unanswered, _) => "sent, no response",
                (PartState::No, _) => "not sent",
            };
            let numbers = numbers
                .map(|number| if part.sent == PartState::Answered { number.to_string() } else { "-".to_owned() });
            [vec![(at + 1).to_string(), part.rows.to_string()], numbers.to_vec(), vec![state.to_owned()]].concat()
        }));
        let (sent, all, applied) = (self.rows_sent(), self.rows(), self.rows_in());
        let sum = if dry_run { String::new() } else { format!(", {applied} applied") };
        format!("{sent} of {all} rows sent{sum}\n\n{}\n", table(&rows))
    }

    fn errors_text(&self) -> String {
        if self.errors.is_empty() {
            return String::new();
        }
        // Few of the failed rows cause the other failures, and the table must show these rows.
        let (causes, others): (Vec<&Value>, Vec<&Value>) =
            self.errors.iter().partition(|error| error["caused_by_row"].is_null());
        let mut shown_errors: Vec<&Value> = causes.into_iter().chain(others.iter().copied()).take(SHOWN).collect();
        shown_errors.sort_by_key(|error| error["row_number"].as_u64());
        let mut rows = vec![["ROW", "EMAIL", "COLUMN", "CODE", "MESSAGE"].map(str::to_owned).to_vec()];
        rows.extend(shown_errors.into_iter().flat_map(problem_lines));
        let mut text = format!("\n{}\n", table(&rows));
        if !others.is_empty() {
            let count = count_noun(others.len(), "row");
            text.push_str(&format!("{count} failed only because of other rows: correct the other rows first\n"));
        }
        if self.errors.len() > SHOWN {
            text.push_str(&format!("and {} more; --json shows them all\n", self.errors.len() - SHOWN));
        }
        text
    }
}

/// Returns one table row per problem of a failed row. Only the first table row shows number and address of the
/// failed row.
fn problem_lines(error: &Value) -> Vec<Vec<String>> {
    let row = [cell(&error["row_number"]), cell(&error["email"])];
    let problems = error["problems"].as_array().filter(|problems| !problems.is_empty());
    // Older services have no `problems`, only `message`.
    let Some(problems) = problems else {
        return vec![[&row[..], &[String::new(), cell(&error["code"]), cell(&error["message"])]].concat()];
    };
    let line = |(number, problem): (usize, &Value)| {
        let first = if number == 0 { row.clone() } else { Default::default() };
        let rest = ["field", "code", "message"].map(|member| cell(&problem[member]));
        [&first[..], &rest[..]].concat()
    };
    problems.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally() -> Tally {
        let response = |row: u32| {
            json!({"data": {"created": 2, "updated": 1, "deactivated": 0, "skipped": 3, "errors": [
                {"row_number": row, "email": "a@example.com", "code": "required", "message": "x"},
            ]}, "warnings": [{"column": "badge", "message": "becomes a text in row 2"}]})
        };
        let mut tally = Tally::new([7, 7, 5].into_iter(), 1);
        let part = |numbers: &[u32]| {
            let managers = vec![None; numbers.len()];
            Part { bytes: vec![], numbers: numbers.to_vec(), managers, is_whole: false }
        };
        tally.add(0, &part(&[9, 12]), response(3));
        tally.add(1, &part(&[4]), response(2));
        tally
    }

    #[test]
    fn tally_sums_counters_and_numbers_rows_by_the_whole_file() {
        let tally = tally();
        let object = tally.object(false, None);
        let counters = ["created", "updated", "deactivated", "skipped"].map(|name| object["data"][name].as_u64());
        assert_eq!(counters, [4, 2, 0, 7].map(Some));
        let rows: Vec<_> = tally.errors.iter().map(|error| error["row_number"].as_u64()).collect();
        assert_eq!(rows, [Some(4), Some(12)]);
        let text = tally.text(false);
        assert!(text.contains("4 created, 2 updated, 0 deactivated, 7 skipped, 2 failed"), "{text}");
        assert!(text.lines().last().is_some_and(|text| text.starts_with("12")), "{text}");
        let warnings: Vec<_> = tally.warnings.iter().map(|warning| warning["message"].as_str()).collect();
        assert_eq!(warnings, [Some("becomes a text in row 9"), Some("becomes a text in row 4")]);
    }

    #[test]
    fn causes_are_shown_before_the_rows_that_follow() {
        let error = |row: usize, cause: Option<usize>| {
            let mut error = json!({"row_number": row, "email": "a@x", "code": "required", "message": "x"});
            if let Some(cause) = cause {
                error["caused_by_row"] = json!(cause);
            }
            error
        };
        let last = SHOWN + 3;
        let errors = (2..last).map(|row| error(row, Some(last))).chain([error(last, None)]).collect();
        let text = Tally { errors, ..Tally::default() }.errors_text();
        assert!(text.contains(&format!("\n{last}  ")), "{text}");
        assert!(text.contains(&format!("{} rows failed only because of other rows", last - 2)), "{text}");
    }

    #[test]
    fn failed_row_has_a_line_for_each_problem() {
        let error = json!({"row_number": 2, "email": "a@example.com", "code": "required", "message": "both", "problems": [
            {"field": "first_name", "code": "required", "message": "is required"},
            {"field": "role", "code": "invalid_enum", "message": "must be one of: employee"},
        ]});
        let lines = [
            ["2", "a@example.com", "first_name", "required", "is required"],
            ["", "", "role", "invalid_enum", "must be one of: employee"],
        ];
        assert_eq!(problem_lines(&error), lines);
        let older =
            json!({"row_number": 3, "email": "b@", "code": "invalid_format", "message": "email must be one"});
        assert_eq!(problem_lines(&older), [["3", "b@", "", "invalid_format", "email must be one"]]);
    }

    #[test]
    fn interrupted_import_reports_progress_of_each_part() {
        let mut tally = tally();
        let far = |tally: &Tally| {
            let object = tally.object(false, Some("why"))["import"].clone();
            ["complete", "error", "rows", "rows_sent", "rows_applied"].map(|name| object[name].clone())
        };
        assert_eq!(far(&tally), [json!(false), json!("why"), json!(19), json!(14), json!(12)]);
        assert!(tally.text(false).contains("14 of 19 rows sent, 12 applied"), "{}", tally.text(false));
        assert!(!tally.is_open());
        tally.mark(2, PartState::Unanswered);
        assert_eq!(far(&tally)[3..], [json!(19), json!(12)]);
        assert!(tally.is_open() && tally.text(false).contains("sent, no response"), "{}", tally.text(false));
    }
}
