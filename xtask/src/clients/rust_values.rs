//! Values of the document's examples as Rust code that uses constructors and setters of the library.

use super::model::{Api, Form, Member, NamedType};
use super::rust::{rust_name, variant, without_option};
use crate::process::Outcome;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Values of one sample, and the types that they name.
#[derive(Debug, Default, Serialize)]
pub(super) struct RustValues {
    /// Body of the request, if it has one.
    pub(super) body: Option<String>,
    /// Query of the request, if a parameter is required.
    pub(super) query: Option<String>,
    pub(super) imports: BTreeSet<String>,
}

impl RustValues {
    /// Returns the values of a body and a query, each given with the name of its type.
    pub(super) fn new(api: &Api, body: Option<(&str, &Value)>, query: Option<(&str, &Value)>) -> Outcome<Self> {
        let mut writer = Writer { api, imports: BTreeSet::new() };
        let mut part_text = |part: Option<(&str, &Value)>| {
            part.map(|(type_name, value)| writer.expression(value, type_name)).transpose()
        };
        let (body, query) = (part_text(body)?, part_text(query)?);
        Ok(Self { body, query, imports: writer.imports })
    }
}

struct Writer<'a> {
    api: &'a Api,
    imports: BTreeSet<String>,
}

impl Writer<'_> {
    /// Returns the expression for an argument of type `type_name`.
    fn expression(&mut self, value: &Value, type_name: &str) -> Outcome<String> {
        let type_name = without_option(type_name);
        if let Some(element) = inner_type(type_name, "Vec<") {
            let entries = value.as_array().into_iter().flatten().map(|entry| self.expression(entry, element));
            return Ok(format!("[{}]", entries.collect::<Outcome<Vec<_>>>()?.join(", ")));
        }
        if let Some(element) = inner_type(type_name, "BTreeMap<String, ") {
            let is_optional = element.starts_with("Option<");
            let entry = |(name, value): (&String, &Value)| -> Outcome<String> {
                let entry = if is_optional && value.is_null() {
                    "None".to_owned()
                } else {
                    let present = self.expression(value, element)?;
                    if is_optional { format!("Some({present})") } else { present }
                };
                Ok(format!("({name:?}, {entry})"))
            };
            let entries = value.as_object().into_iter().flatten().map(entry);
            return Ok(format!("[{}]", entries.collect::<Outcome<Vec<_>>>()?.join(", ")));
        }
        if type_name == "Value" {
            self.imports.insert("Value".to_owned());
            return Ok(if value.is_null() { "Value::Null".to_owned() } else { format!("Value::from({value})") });
        }
        let known_type = self.api.types.iter().chain(&self.api.queries).find(|known| known.name == type_name);
        match (known_type, value) {
            (Some(known_type), _) => self.named_value(value, known_type),
            (None, Value::Bool(_) | Value::Number(_) | Value::String(_)) => Ok(value.to_string()),
            (None, _) => Err(format!("{value} is no {type_name}").into()),
        }
    }

    fn named_value(&mut self, value: &Value, known: &NamedType) -> Outcome<String> {
        match (&known.form, value) {
            (Form::Words { words }, Value::String(word)) if words.contains(word) => {
                self.imports.insert(known.name.clone());
                Ok(format!("{}::{}", known.name, variant(word)))
            }
            (Form::Object { members }, Value::Object(given)) => {
                self.imports.insert(known.name.clone());
                self.constructor_call(&known.name, members, given)
            }
            (Form::Alias { target, .. }, _) if target.rust != known.name => self.expression(value, &target.rust),
            _ => Err(format!("{value} is no {}", known.name).into()),
        }
    }

    /// Returns a call of `new` with the required members, and of a setter for each other member.
    fn constructor_call(&mut self, name: &str, members: &[Member], given: &Map<String, Value>) -> Outcome<String> {
        let (mut arguments, mut setters) = (Vec::new(), String::new());
        for member in members {
            match given.get(&member.name) {
                None if member.required => return Err(format!("{name} needs {}", member.name).into()),
                None => {}
                Some(Value::Null) => setters += &format!(".clear_{}()", member.name),
                Some(value) => {
                    let argument = self.expression(value, &member.rendered.rust)?;
                    if member.required {
                        arguments.push(argument);
                    } else {
                        setters += &format!(".{}({argument})", rust_name(&member.name));
                    }
                }
            }
        }
        Ok(format!("{name}::new({}){setters}", arguments.join(", ")))
    }
}

fn inner_type<'a>(type_name: &'a str, container: &str) -> Option<&'a str> {
    type_name.strip_prefix(container)?.strip_suffix('>')
}

#[cfg(test)]
mod tests {
    use super::RustValues;
    use crate::clients::document;
    use serde_json::json;

    #[test]
    fn example_is_written_with_constructors_and_setters() {
        let schemas = json!({
            "ErrorCode": {"enum": []},
            "EventType": {"enum": []},
            "Tone": {"enum": ["up"]},
            "Note": {
                "properties": {
                    "text": {"type": "string"},
                    "tone": {"anyOf": [{"$ref": "#/components/schemas/Tone"}, {"type": "string"}]},
                    "data": {"additionalProperties": {"type": ["string", "number", "null"]}, "type": "object"},
                    "link": {"type": ["string", "null"]},
                    "paths": {"additionalProperties": {"type": ["string", "null"]}, "type": "object"},
                },
                "required": ["text"],
            },
        });
        let api = json!({"info": {"version": "1"}, "paths": {}, "components": {"schemas": schemas}});
        let api = document::read(&api).unwrap();
        let example = json!({"text": "a \"b\"", "tone": "up", "data": {"n": 1, "no": null}, "link": null, "paths": {"a": "b", "c": null}});
        let values = RustValues::new(&api, Some(("Note", &example)), None).unwrap();
        let expected_code = "Note::new(\"a \\\"b\\\"\").data([(\"n\", Value::from(1)), (\"no\", Value::Null)])\
                        .clear_link().paths([(\"a\", Some(\"b\")), (\"c\", None)]).tone(Tone::Up)";
        assert_eq!(values.body.as_deref(), Some(expected_code));
        assert_eq!(values.imports.into_iter().collect::<Vec<_>>(), ["Note", "Tone", "Value"]);
        assert!(RustValues::new(&api, Some(("Note", &json!({}))), None).is_err());
    }
}
