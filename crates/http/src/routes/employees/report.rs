//! The upload of a CSV file: its body and its answer.

use candor_domain::csv::Action;
use candor_domain::fields::Word;
use serde_json::{Value, json};

use crate::schema::Schema;
use crate::schema::shapes::{about, answer, array, count, field, plain};
use crate::schema::words::{FIELD_CODES, open};

/// What became of the rows.
pub(crate) const CSV_REPORT: Schema = Schema::new("CsvReport", report)
    .example(example)
    .outcome("What became of the rows; also where some or all of them were refused.");

/// The first lines of a file, as an example.
const EXAMPLE: &str = "email,first_name,last_name,manager_email,department_name,custom.location\n\
    mara@example.com,Mara,Lindqvist,,Product,Izmir\njonas@example.com,Jonas,Okafor,mara@example.com,Product,Lagos\n";

/// The request body.
pub(crate) fn body() -> Value {
    let schema = about(
        json!({"type": "string", "minLength": 1}),
        "A header and at most 10,000 rows, in UTF-8 with commas, at most 5 MiB.",
    );
    json!({"required": true, "content": {"text/csv": {"schema": schema, "example": EXAMPLE}}})
}

fn report() -> Value {
    let row = || field("row_number", count(1), "The row as a spreadsheet counts; the header is 1.");
    let email = || field("email", plain(), "The e-mail address of the row, as it was given.");
    let problem = vec![
        field("field", plain(), "The column, or `row` for the row as a whole."),
        field("code", open(FIELD_CODES), "What is wrong: a code of a field, `permission_denied` or `conflict`."),
        field("message", plain(), "What would be right, for people."),
    ];
    let error = vec![
        row(),
        email(),
        field("code", open(FIELD_CODES), "The code of the first problem."),
        field("message", plain(), "All problems of the row in one text, for people."),
        field(
            "problems",
            array(&answer(problem, vec![])),
            "The problems of the row one by one: the first 20, or the first one after 20,000.",
        ),
    ];
    let data = vec![
        field("created", count(0), "Rows that recorded somebody new."),
        field("updated", count(0), "Rows that changed somebody."),
        field("deactivated", count(0), "Rows that deactivated somebody."),
        field("skipped", count(0), "Rows that changed nothing, or that a later row of the same person replaced."),
        field("errors", array(&answer(error, vec![])), "The rows that were refused, each with the reason."),
    ];
    let planned = vec![
        row(),
        email(),
        field("action", open(Action::NAME), "What would become of the row."),
        field("changes", planned_changes(), "The columns that would differ, by name."),
    ];
    let warning = vec![
        field("column", plain(), "The name in the header."),
        field("message", plain(), "Why it was ignored, and which column it probably is, for people."),
    ];
    let sometimes = vec![
        field("warnings", array(&answer(warning, vec![])), "Columns that were ignored."),
        field("plan", array(&answer(planned, vec![])), "What would become of each row. Only with `dry_run=true`."),
    ];
    let data = field("data", answer(data, vec![]), "The outcome; the five counts add up to the number of rows.");
    answer(vec![data], sometimes)
}

/// The columns that would differ. The stored value is absent for keys without `employees:read` (decision E9).
fn planned_changes() -> Value {
    let to = field("to", json!({}), "The value after the upload; null for none.");
    let from = field("from", json!({}), "The stored value; null for none. Only for keys with `employees:read`.");
    json!({"type": "object", "additionalProperties": answer(vec![to], vec![from])})
}

fn example() -> Value {
    json!({"data": {"created": 2, "updated": 0, "deactivated": 0, "skipped": 1, "errors": [
        {"row_number": 4, "email": "ada@", "code": "invalid_format",
            "message": "email must be an e-mail address; role must be one of: employee, manager, org_admin",
            "problems": [
                {"field": "email", "code": "invalid_format", "message": "must be an e-mail address"},
                {"field": "role", "code": "invalid_enum", "message": "must be one of: employee, manager, org_admin"},
            ]},
    ]}})
}
