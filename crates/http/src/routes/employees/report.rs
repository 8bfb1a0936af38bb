//! CSV upload of employees: request body and report.

use candor_people_csv::Report;
use serde_json::{Value, json};

use crate::contract::schema::shapes::describe;
use crate::contract::schema::{Schema, response_of};

/// Schema of an upload's report.
pub(crate) const CSV_REPORT: Schema = Schema::new("CsvReport", response_of::<Report>)
    .example(example)
    .outcome("Result of the rows. The status is 200 even if all rows are rejected.");

/// Example of a CSV file.
const EXAMPLE: &str = "email,first_name,last_name,manager_email,department_name,custom.location\n\
    mara@example.com,Mara,Lindqvist,,Product,Izmir\n\
    jonas@example.com,Jonas,Okafor,mara@example.com,Product,Lagos\n";

/// Returns the schema of the request body.
pub(crate) fn body() -> Value {
    let schema = describe(
        json!({"type": "string", "minLength": 1}),
        "A CSV file in UTF-8 with commas: a header and at most 10,000 rows, at most 5 MiB.",
    );
    json!({"required": true, "content": {"text/csv": {"schema": schema, "example": EXAMPLE}}})
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
