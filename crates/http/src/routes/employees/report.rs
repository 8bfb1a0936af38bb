//! CSV upload of employees: request body and report.

use candor_domain::csv::Action;
use candor_domain::fields::StringEnum;
use serde_json::{Value, json};

use crate::schema::Schema;
use crate::schema::shapes::{answer, array, count, described, field, plain};
use crate::schema::words::{FIELD_CODES, open};

/// Schema of an upload's report.
pub(crate) const CSV_REPORT: Schema = Schema::new("CsvReport", report)
    .example(example)
    .outcome("Result of the rows. The status is 200 even if all rows are rejected.");

/// Example of a CSV file.
const EXAMPLE: &str = "email,first_name,last_name,manager_email,department_name,custom.location\n\
    mara@example.com,Mara,Lindqvist,,Product,Izmir\njonas@example.com,Jonas,Okafor,mara@example.com,Product,Lagos\n";

/// Returns the schema of the request body.
pub(crate) fn body() -> Value {
    let schema = described(
        json!({"type": "string", "minLength": 1}),
        "A CSV file in UTF-8 with commas: a header and at most 10,000 rows, at most 5 MiB.",
    );
    json!({"required": true, "content": {"text/csv": {"schema": schema, "example": EXAMPLE}}})
}

fn report() -> Value {
    let row = || field("row_number", count(1), "Row number as in a spreadsheet. The header is row 1.");
    let email = || field("email", plain(), "E-mail address of the row, as given.");
    let problem = vec![
        field("field", plain(), "Column, or `row` for the whole row."),
        field("code", open(FIELD_CODES), "Kind of problem: a field error code, `permission_denied` or `conflict`."),
        field("message", plain(), "Required correction, for display."),
    ];
    let error = vec![
        row(),
        email(),
        field("code", open(FIELD_CODES), "Code of the first problem."),
        field("message", plain(), "All problems of the row in one text, for display."),
        field(
            "problems",
            array(&answer(problem, vec![])),
            "Problems of the row, at most 20. After 20,000 problems in the file, each row lists only its first \
             one.",
        ),
    ];
    let data = vec![
        field("created", count(0), "Number of rows that created a person."),
        field("updated", count(0), "Number of rows that changed a person."),
        field("deactivated", count(0), "Number of rows that deactivated a person."),
        field(
            "skipped",
            count(0),
            "Number of rows that changed nothing or that a later row of the same person replaced.",
        ),
        field("errors", array(&answer(error, vec![])), "Rejected rows with their reasons."),
    ];
    let planned = vec![
        row(),
        email(),
        field("action", open(Action::NAME), "Effect that the row would have."),
        field("changes", planned_changes(), "Columns that would change, by name."),
    ];
    let warning = vec![
        field("column", plain(), "Name of the column in the header."),
        field(
            "message",
            plain(),
            "Reason why the column was ignored, and the column that it probably means, for display.",
        ),
    ];
    let sometimes = vec![
        field("warnings", array(&answer(warning, vec![])), "Ignored columns."),
        field("plan", array(&answer(planned, vec![])), "Effect that each row would have. Present with `dry_run=true`."),
    ];
    let data =
        field("data", answer(data, vec![]), "Result of the upload. The five counts add up to the number of rows.");
    answer(vec![data], sometimes)
}

/// Returns the schema of planned changes. The stored value is absent for keys without `employees:read` (decision
/// E9).
fn planned_changes() -> Value {
    let to = field("to", json!({}), "Value after the upload. Null if there is none.");
    let from = field("from", json!({}), "Stored value. Null if there is none. Present for keys with `employees:read`.");
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
