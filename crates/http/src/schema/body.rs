//! Schema of a request body, generated from the domain's parsing rules.

use candor_domain::fields::Fields;
use candor_domain::rule::{FieldDescription, Shape};
use serde_json::{Value, json};

use super::shapes::{Member, array, date, datetime, described, flag, line, nullable, reference_to, request, set, text};

/// Returns the schema of the values that a rule accepts.
fn schema(shape: &Shape) -> Value {
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
        Shape::Date => date(),
        Shape::Datetime | Shape::Recent(_) => datetime(),
        Shape::Reference { prefix, what } => described(
            json!({"type": "string"}),
            &format!("Id of {what}, `{prefix}_…`. 422 if the organization has no such resource."),
        ),
        Shape::List { of, min, max, is_set: true } => set(&schema(of), *min, *max),
        Shape::List { of, min, max, is_set: false } => {
            let mut list = array(&schema(of));
            (list["minItems"], list["maxItems"]) = (json!(min), json!(max));
            list
        }
        Shape::Object(members) => object(members),
        Shape::Map { max, key_chars, value_chars } => {
            let mut value = text(0, *value_chars);
            value["type"] = json!(["string", "number", "boolean", "null"]);
            json!({
                "type": "object",
                "maxProperties": max,
                "propertyNames": text(1, *key_chars),
                "additionalProperties": value,
            })
        }
    }
}

/// Returns the description of a field with its bounds.
fn sentence(shape: &Shape, what: &str) -> String {
    let filled = |max: &dyn std::fmt::Display| what.replace("{max}", &max.to_string());
    match shape {
        Shape::Text { max, .. } if what.contains("{max}") => filled(max),
        Shape::Text { min: 0, max } => format!("{what} At most {max} characters."),
        Shape::Text { min, max } => format!("{what} {min} to {max} characters."),
        Shape::Line { min, max } => format!("{what} {min} to {max} characters in one line."),
        Shape::Email(max) | Shape::Url(max) | Shape::Slug { max, .. } | Shape::List { max, .. } => filled(max),
        Shape::Whole { max, .. } | Shape::Recent(max) => filled(max),
        Shape::Map { max, key_chars, value_chars } => format!(
            "A flat map of at most {max} keys of up to {key_chars} characters. A value is a text of up to \
             {value_chars} characters, a number or a boolean. {what}"
        ),
        Shape::Word(_) | Shape::Flag | Shape::Date | Shape::Datetime | Shape::Reference { .. } | Shape::Object(_) => {
            what.to_owned()
        }
    }
}

/// Returns a member of a body. Defaults are described in prose: with the keyword `default`, generated clients
/// assume that the member is always present.
fn member(it: &FieldDescription) -> Member {
    let schema = schema(&it.shape);
    let schema = if it.is_nullable { nullable(schema) } else { schema };
    if it.about.is_empty() {
        return (it.name, schema);
    }
    let mut said = sentence(&it.shape, it.about);
    if let Some(default) = &it.default {
        said = format!("{said} Default: `{default}`.");
    }
    (it.name, described(schema, &said))
}

/// Generates the schema of the body that `read` parses.
pub(crate) fn body<T>(read: impl FnOnce(&mut Fields) -> T) -> Value {
    object(&Fields::described(read))
}

fn object(members: &[FieldDescription]) -> Value {
    let (required, optional): (Vec<_>, Vec<_>) = members.iter().partition(|member| member.is_required);
    request(required.into_iter().map(member).collect(), optional.into_iter().map(member).collect())
}
