//! Schema of a request body, generated from the domain's parsing rules.

use candor_domain::decimal::{LARGEST, PLACES};
use candor_domain::fields::Fields;
use candor_domain::rule::{FieldDescription, Shape};
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::responses::response_of;
use super::shapes::{
    Member, array, date, datetime, describe, flag, line, nullable, period, reference_to, request, set, text,
};

/// Returns the schema of the values that a rule accepts. `stored` is the schema of the member that these values
/// set.
fn schema(shape: &Shape, stored: &Value) -> Value {
    match shape {
        Shape::Text { min, max } => text(*min, *max),
        Shape::Line { min, max } => line(*min, *max),
        Shape::Email(max) => json!({"type": "string", "format": "email", "maxLength": max}),
        Shape::Url(max) => json!({"type": "string", "format": "uri", "maxLength": max}),
        Shape::Slug { max, except } => json!({
            "type": "string", "minLength": 1, "maxLength": max,
            "pattern": "^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$", "not": {"const": except},
        }),
        Shape::Word(name) => reference_to(name),
        Shape::Flag => flag(),
        Shape::Whole { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        Shape::Decimal => decimal(&json!("number")),
        Shape::DecimalOrFlag => decimal(&json!(["number", "boolean"])),
        Shape::Date => date(),
        Shape::Period => period(),
        Shape::Datetime | Shape::Recent(_) => datetime(),
        Shape::Reference { prefix } => describe(json!({"type": "string"}), &reference(prefix)),
        Shape::Id { prefix } => describe(json!({"type": "string"}), &format!("The id starts with `{prefix}_`.")),
        Shape::List { of, min, max, is_set: true } => set(&schema(of, &stored["items"]), *min, *max),
        Shape::List { of, min, max, is_set: false } => {
            let mut list = array(&schema(of, &stored["items"]));
            (list["minItems"], list["maxItems"]) = (json!(min), json!(max));
            list
        }
        Shape::Object(members) => object(members, stored),
        Shape::Map { max, key_chars, value_chars } => {
            map(*max, *key_chars, *value_chars, &["string", "number", "boolean", "null"])
        }
        Shape::TextMap { max, key_chars, value_chars } => map(*max, *key_chars, *value_chars, &["string", "null"]),
    }
}

/// Returns the schema of values of these JSON types, where numbers have the bounds of decimals.
fn decimal(types: &Value) -> Value {
    json!({"type": types, "minimum": -LARGEST, "maximum": LARGEST})
}

/// Returns the schema of a flat map with values of these types.
fn map(max: usize, key_chars: usize, value_chars: usize, types: &[&str]) -> Value {
    let mut value = text(0, value_chars);
    value["type"] = json!(types);
    json!({
        "type": "object",
        "maxProperties": max,
        "propertyNames": text(1, key_chars),
        "additionalProperties": value,
    })
}

/// Returns the sentence about the bounds of a shape, if it has bounds to state.
pub(super) fn bounds(shape: &Shape) -> Option<String> {
    match shape {
        Shape::Text { min: 0, max } | Shape::Email(max) | Shape::Url(max) => {
            Some(format!("At most {max} characters."))
        }
        Shape::Text { min, max } => Some(format!("{min} to {max} characters.")),
        Shape::Line { min, max } => Some(format!("{min} to {max} characters in one line.")),
        Shape::Slug { max, except } => {
            Some(format!("At most {max} lower-case letters, digits, `-` and `_`, but not `{except}`."))
        }
        Shape::List { min, max, is_set, .. } => {
            let entries =
                if *min == 0 { format!("At most {max} entries") } else { format!("{min} to {max} entries") };
            Some(if *is_set { format!("{entries}, without duplicates.") } else { format!("{entries}.") })
        }
        Shape::Map { max, key_chars, value_chars } => Some(format!(
            "A flat map of at most {max} keys of up to {key_chars} characters. A value is a text of up to \
             {value_chars} characters, a number or a boolean."
        )),
        Shape::TextMap { max, key_chars, value_chars } => Some(format!(
            "At most {max} names of up to {key_chars} characters, with values of up to {value_chars} characters."
        )),
        Shape::Period => {
            Some("An ISO 8601 duration of at least 30 days, of years, months and days or of weeks.".to_owned())
        }
        Shape::Decimal | Shape::DecimalOrFlag => Some(format!("At most {PLACES} decimal places.")),
        Shape::Recent(_)
        | Shape::Whole { .. }
        | Shape::Word(_)
        | Shape::Flag
        | Shape::Date
        | Shape::Datetime
        | Shape::Reference { .. }
        | Shape::Id { .. }
        | Shape::Object(_) => None,
    }
}

/// Returns the upper bound of a shape, if it has one.
fn upper_bound(shape: &Shape) -> Option<String> {
    match shape {
        Shape::Text { max, .. }
        | Shape::Line { max, .. }
        | Shape::Email(max)
        | Shape::Url(max)
        | Shape::Slug { max, .. }
        | Shape::List { max, .. }
        | Shape::Map { max, .. }
        | Shape::TextMap { max, .. } => Some(max.to_string()),
        Shape::Whole { max, .. } | Shape::Recent(max) => Some(max.to_string()),
        Shape::Word(_)
        | Shape::Flag
        | Shape::Decimal
        | Shape::DecimalOrFlag
        | Shape::Date
        | Shape::Period
        | Shape::Datetime
        | Shape::Reference { .. }
        | Shape::Id { .. }
        | Shape::Object(_) => None,
    }
}

/// Returns the sentences about the id of another resource.
fn reference(prefix: &str) -> String {
    format!("The id starts with `{prefix}_`. 422 if the organization has no such resource.")
}

/// Returns the description of a field: the description of the member that it sets, its bounds, and its own
/// remarks. If the field sets no member, its own remarks come first.
fn sentences(field: &FieldDescription, member: Option<&str>) -> String {
    let reference = if let Shape::Reference { prefix } = field.shape { Some(reference(prefix)) } else { None };
    let bounds = bounds(&field.shape).filter(|_| !field.about.contains("{max}"));
    let about = upper_bound(&field.shape).map_or(field.about.to_owned(), |max| field.about.replace("{max}", &max));
    let default = field.default.as_ref().map(|default| format!("Default: `{default}`."));
    let parts = match member {
        Some(member) => [Some(member.to_owned()), bounds, reference, Some(about), default],
        None => [Some(about), bounds, reference, default, None],
    };
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns a member of a body that sets a value with the schema `stored`. Defaults are described in prose: with
/// the keyword `default`, generated clients assume that the member is always present.
fn member(field: &FieldDescription, stored: &Value) -> Member {
    let schema = schema(&field.shape, stored);
    let schema = if field.is_nullable { nullable(schema) } else { schema };
    let sentences = sentences(field, stored["description"].as_str());
    (field.name, if sentences.is_empty() { schema } else { describe(schema, &sentences) })
}

/// Generates the schema of the body that `read` parses.
pub(crate) fn body<D>(read: impl FnOnce(&mut Fields) -> D) -> Value {
    object(&Fields::describe_fields(read), &Value::Null)
}

/// Generates the schema of the body that `read` parses and that sets members of a `T`. The fields have the
/// descriptions of these members.
pub(crate) fn body_of<T: JsonSchema, D>(read: impl FnOnce(&mut Fields) -> D) -> Value {
    object(&Fields::describe_fields(read), &response_of::<T>())
}

/// Generates the schema of the body that `read` parses. Its member named `list` is an array of bodies that set
/// members of a `T`.
pub(crate) fn body_with<T: JsonSchema, D>(list: &str, read: impl FnOnce(&mut Fields) -> D) -> Value {
    object(&Fields::describe_fields(read), &json!({"properties": {list: {"items": response_of::<T>()}}}))
}

/// Generates the schema of an object with these fields, which set members of an object with the schema `stored`.
fn object(fields: &[FieldDescription], stored: &Value) -> Value {
    let member = |field: &FieldDescription| member(field, &stored["properties"][field.name]);
    let (required, optional): (Vec<_>, Vec<_>) = fields.iter().partition(|field| field.is_required);
    request(required.into_iter().map(member).collect(), optional.into_iter().map(member).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::rule::{self, Field, Text};

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only the schema is used")]
    struct Thing {
        /// Title of the thing.
        title: String,
    }

    const TITLE: Field<Text> = Field::with_about("title", rule::text(1..=5), "It cannot be changed.");
    const OTHER: Field<Text> = Field::with_about("other", rule::text(0..=9), "Something else.");

    #[test]
    fn field_has_description_of_its_member_bounds_and_remarks() {
        let body = body_of::<Thing, _>(|fields| (fields.required(&TITLE), fields.optional(&OTHER)));
        let description = |name: &str| body["properties"][name]["description"].as_str().unwrap().to_owned();
        assert_eq!(description("title"), "Title of the thing. 1 to 5 characters. It cannot be changed.");
        assert_eq!(description("other"), "Something else. At most 9 characters.", "no member of the resource");
    }
}
