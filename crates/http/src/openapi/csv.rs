//! The upload of a CSV file: its body, its parameters, its answer.

use candor_domain::csv::Action;
use candor_domain::problem::Code;
use serde_json::{Value, json};

use super::shapes::{about, answer, array, flag, plain, word};

/// The first lines of a file, as an example.
const EXAMPLE: &str = "email,first_name,last_name,manager_email,department_name,custom.location\n\
    mara@example.com,Mara,Lindqvist,,Product,Izmir\njonas@example.com,Jonas,Okafor,mara@example.com,Product,Lagos\n";

/// The request body.
pub(super) fn body() -> Value {
    let schema = about(plain(), "A header and at most 10,000 rows, in UTF-8 with commas, at most 5 MiB.");
    json!({"required": true, "content": {"text/csv": {"schema": schema, "example": EXAMPLE}}})
}

/// The query parameters.
pub(super) fn parameters() -> Vec<Value> {
    let query = |name: &str, schema: Value, about: &str| json!({"name": name, "in": "query", "required": false, "schema": schema, "description": about});
    vec![
        query("dry_run", flag(), "Answers what would become of each row, and writes nothing."),
        query(
            "empty",
            json!({"type": "string", "enum": ["keep", "clear"], "default": "keep"}),
            "What an empty cell means.",
        ),
        query("connector_id", plain(), "Uploads on behalf of this connector, which then owns the records."),
    ]
}

/// The schema of the answer.
pub(super) fn report() -> Value {
    let count = || json!({"type": "integer", "minimum": 0});
    let mut codes: Vec<Value> = Code::ALL.iter().map(|it| json!(it)).collect();
    codes.extend([json!("permission_denied"), json!("conflict")]);
    let row = about(json!({"type": "integer", "minimum": 1}), "The row in a spreadsheet; the header is 1.");
    let error = vec![
        ("row_number", row.clone()),
        ("email", plain()),
        ("code", json!({"type": "string", "enum": codes})),
        ("message", plain()),
    ];
    let data = vec![
        ("created", count()),
        ("updated", count()),
        ("deactivated", count()),
        ("skipped", count()),
        ("errors", array(&answer(error, vec![]))),
    ];
    let change = answer(vec![("from", json!({})), ("to", json!({}))], vec![]);
    let planned = vec![
        ("row_number", row),
        ("email", plain()),
        ("action", word::<Action>()),
        ("changes", json!({"type": "object", "additionalProperties": change})),
    ];
    let warning = answer(vec![("column", plain()), ("message", plain())], vec![]);
    let sometimes = vec![
        ("warnings", about(array(&warning), "Columns that were passed over.")),
        ("plan", about(array(&answer(planned, vec![])), "With `dry_run=true`.")),
    ];
    answer(vec![("data", answer(data, vec![]))], sometimes)
}

/// An example of the answer.
pub(super) fn example() -> Value {
    json!({"data": {"created": 2, "updated": 0, "deactivated": 0, "skipped": 1, "errors": [
        {"row_number": 4, "email": "ada@", "code": "invalid_format", "message": "email must be an e-mail address"},
    ]}})
}
