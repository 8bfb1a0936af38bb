//! Schemas of answers, derived from the types that are serialized.

use candor_domain::fields::Fields;
use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value};

use super::body::bounds;
use super::shapes::Member;

/// Member of a schema with the other types that it refers to. [`take_components`] moves them to the document.
const COMPONENTS: &str = "components";

/// Returns the schema of an answer of this type.
pub(crate) fn response_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
        settings.contract = Contract::Serialize;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(members) = schema.as_object_mut() {
        members.remove("title");
    }
    normalize(&mut schema);
    schema
}

/// Returns the schema of a resource of this type. `read` reads the fields with which requests create or update it:
/// the members have the bounds of these fields. `expanded` are members that are present if the request asks for
/// them.
pub(crate) fn resource<T: JsonSchema, D>(read: impl FnOnce(&mut Fields) -> D, expanded: Vec<Member>) -> Value {
    let mut schema = response_of::<T>();
    if let Some(members) = schema["properties"].as_object_mut() {
        for field in Fields::describe_fields(read) {
            let description = members.get_mut(field.name).and_then(|member| member.get_mut("description"));
            if let (Some(Value::String(description)), Some(bounds)) = (description, bounds(&field.shape)) {
                *description = format!("{description} {bounds}");
            }
        }
        members.extend(expanded.into_iter().map(|(name, member)| (name.to_owned(), member)));
    }
    schema
}

/// Returns the schema, with the member `name` no longer required.
pub(crate) fn with_optional(mut schema: Value, name: &str) -> Value {
    if let Some(required_members) = schema["required"].as_array_mut() {
        required_members.retain(|member| member != name);
    }
    schema
}

/// Removes the schemas of referenced types from a schema and returns them by name.
pub(crate) fn take_components(schema: &mut Value) -> Map<String, Value> {
    let components = schema.as_object_mut().and_then(|members| members.remove(COMPONENTS));
    match components.and_then(|mut components| components.get_mut("schemas").map(Value::take)) {
        Some(Value::Object(schemas)) => schemas,
        _ => Map::new(),
    }
}

/// Adapts a derived schema to the document. Descriptions keep the first paragraph of the docs, and nested choices
/// become one choice. Integers lose the format of their Rust type, whose upper bound would become part of the API.
fn normalize(schema: &mut Value) {
    match schema {
        Value::Array(parts) => parts.iter_mut().for_each(normalize),
        Value::Object(members) => {
            if let Some(Value::String(description)) = members.get_mut("description") {
                let paragraph = description.split("\n\n").next().unwrap_or_default();
                *description = paragraph.replace('\n', " ");
            }
            let format = members.get("format").and_then(Value::as_str).unwrap_or_default();
            let (is_integer, is_small) =
                (format.contains("int"), format.ends_with("t8") || format.ends_with("t16"));
            if is_integer {
                members.remove("format");
            }
            if is_small {
                members.remove("maximum");
            }
            members.values_mut().for_each(normalize);
            if let Some(choices) = members.get_mut("anyOf").and_then(Value::as_array_mut) {
                flatten(choices);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Replaces each nested `anyOf` among the choices of an `anyOf` by its own choices.
fn flatten(choices: &mut Vec<Value>) {
    *choices = std::mem::take(choices)
        .into_iter()
        .flat_map(|mut choice| match choice.get_mut("anyOf").map(Value::take) {
            Some(Value::Array(parts)) => parts,
            _ => vec![choice],
        })
        .collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::schema::shapes::plain;
    use candor_domain::rule::{self, Field, Text};
    use candor_domain::time::Timestamp;
    use serde::Serialize;
    use serde_json::json;

    const TITLE: Field<Text> = Field::new("title", rule::text(1..=5));

    #[derive(Serialize, JsonSchema)]
    struct Part {
        name: String,
    }

    /// A thing.
    ///
    /// More about it.
    #[derive(Serialize, JsonSchema)]
    struct Thing {
        /// Title of the thing, in
        /// plain text.
        #[serde(rename = "title")]
        heading: String,
        count: u16,
        at: Option<Timestamp>,
        part: Option<Part>,
        #[serde(skip)]
        #[expect(dead_code, reason = "skipped")]
        hidden: u8,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        parts: Vec<Part>,
    }

    #[test]
    fn schema_of_an_answer_has_its_serialized_members() {
        let mut schema = response_of::<Thing>();
        let components = take_components(&mut schema);
        assert_eq!(schema["required"], json!(["title", "count", "at", "part"]));
        assert_eq!(schema["description"], "A thing.");
        let members = &schema["properties"];
        assert_eq!(
            members["title"],
            json!({"type": "string", "description": "Title of the thing, in plain text."})
        );
        assert_eq!(members["count"], json!({"type": "integer", "minimum": 0}), "no bound of Rust");
        assert_eq!(members["at"]["type"], json!(["string", "null"]));
        assert_eq!(members["part"], json!({"anyOf": [{"$ref": "#/components/schemas/Part"}, {"type": "null"}]}));
        assert!(members.get("hidden").is_none() && members.get("parts").is_some());
        assert_eq!(components.keys().collect::<Vec<_>>(), ["Part"]);
    }

    #[test]
    fn resource_has_bounds_of_its_fields_and_expanded_members() {
        let schema = resource::<Thing, _>(|fields| drop(fields.required(&TITLE)), vec![("more", plain())]);
        let title = &schema["properties"]["title"]["description"];
        assert_eq!(title, "Title of the thing, in plain text. 1 to 5 characters.");
        assert_eq!(schema["properties"]["more"], plain());
        assert_eq!(with_optional(schema, "count")["required"], json!(["title", "at", "part"]));
    }
}
