//! Rows of exports: one schema for each exported resource, and the union of all.

use candor_domain::export::{ExportRow, ExportedResource};
use candor_domain::fields::StringEnum;
use serde_json::{Map, Value, json};

use crate::contract::schema::Schema;
use crate::contract::schema::shapes::{describe, field, plain, reference_to, response};
use crate::routes::assignments::ASSIGNMENT;
use crate::routes::attributes::ATTRIBUTE;
use crate::routes::check_ins::CHECK_IN;
use crate::routes::conversations::{CONVERSATION, MESSAGE};
use crate::routes::departments::DEPARTMENT;
use crate::routes::employees::EMPLOYEE;
use crate::routes::objectives::OBJECTIVE;
use crate::routes::observations::OBSERVATION;
use crate::routes::summaries::SUMMARY;

/// Name of the schema for rows of a type that this version does not describe.
const OTHER: &str = "OtherRow";
/// Types of the lines that are no rows.
const NO_ROWS: [&str; 3] = ["header", "checkpoint", "end"];
const DATA: &str = "The resource as GET returns it, without `expand`.";

/// Returns the schema of an exported resource.
const fn data(resource: ExportedResource) -> Schema {
    match resource {
        ExportedResource::Employees => EMPLOYEE,
        ExportedResource::Observations => OBSERVATION,
        ExportedResource::EmployeeObjectives | ExportedResource::ManagerObjectives => OBJECTIVE,
        ExportedResource::CheckIns => CHECK_IN,
        ExportedResource::Summaries => SUMMARY,
        ExportedResource::Conversations => CONVERSATION,
        ExportedResource::Messages => MESSAGE,
        ExportedResource::Assignments => ASSIGNMENT,
        ExportedResource::Departments => DEPARTMENT,
        ExportedResource::Attributes => ATTRIBUTE,
    }
}

/// Returns the schema name for rows of this type: `employee_objective` is `EmployeeObjectiveRow`.
fn row_name(line_type: &str) -> String {
    let capitalize = |word: &str| word[..1].to_uppercase() + &word[1..];
    line_type.split('_').map(capitalize).collect::<String>() + "Row"
}

fn row(resource: ExportedResource) -> Value {
    let word = resource.line_type();
    let kind = json!({"type": "string", "const": word});
    let members = vec![
        field("type", kind, &format!("Type of the line, `{word}`.")),
        field("data", reference_to(data(resource).name), DATA),
    ];
    describe(response(members, vec![]), &format!("The line of one row of `{}`.", resource.word()))
}

/// Builds the schema of rows that later versions add. It excludes the described types, so that a row matches exactly
/// one schema.
fn other_rows() -> Value {
    let words = NO_ROWS.iter().map(|word| json!({"const": word}));
    let schemas: Vec<Value> = words.chain([reference_to(ExportRow::TYPES_NAME)]).collect();
    let data = json!({
        "type": "object", "required": ["id"], "properties": {"id": describe(plain(), "Id of the resource.")}, "additionalProperties": true,
    });
    let members = vec![
        field("type", json!({"type": "string", "not": {"anyOf": schemas}}), "Resource in the singular."),
        field("data", data, DATA),
    ];
    let about = "The line of one row of a type that this version does not describe.";
    describe(response(members, vec![]), about)
}

/// Returns the schemas of rows, and their union, discriminated by `type`.
pub(super) fn schemas() -> Vec<(String, Value)> {
    let named_schema = |resource: &ExportedResource| (row_name(resource.line_type()), row(*resource));
    let mut schemas: Vec<(String, Value)> = ExportedResource::ALL.iter().map(named_schema).collect();
    let mapping: Map<String, Value> = ExportedResource::ALL
        .iter()
        .map(|resource| resource.line_type())
        .map(|word| (word.to_owned(), json!(format!("#/components/schemas/{}", row_name(word)))))
        .collect();
    let names = schemas.iter().map(|(name, _)| name.as_str()).chain([OTHER]);
    let union = json!({
        "description": "The line of one resource.",
        "oneOf": names.map(reference_to).collect::<Vec<_>>(),
        "discriminator": {"propertyName": "type", "mapping": mapping},
    });
    schemas.push((OTHER.to_owned(), other_rows()));
    schemas.push((ExportRow::NAME.to_owned(), union));
    schemas
}
