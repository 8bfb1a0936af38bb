//! The named types of the document: its schemas, and the titled objects inside them.

use super::document::{member, members as object_members, object, texts};
use super::model::{Form, Member, NamedType, Rendered};
use super::types::Type;
use crate::process::Outcome;
use serde_json::Value;

/// Returns every schema except those of pages, and every object inside one, by name.
pub(super) fn read(schemas: &Value) -> Outcome<Vec<NamedType>> {
    let mut types = Vec::new();
    for (name, schema) in object_members(schemas)?.iter().filter(|(_, schema)| page_items(schema).is_none()) {
        add(&mut types, named(name, schema)?)?;
        for part in parts(schema) {
            collect(&mut types, part)?;
        }
    }
    types.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(types)
}

/// Returns the schema of a page's entries, if this is the schema of a page.
pub(super) fn page_items(schema: &Value) -> Option<&Value> {
    let properties = &schema["properties"];
    let is_page = properties["next_cursor"].is_object() && properties["has_more"].is_object();
    is_page.then(|| &properties["data"]["items"])
}

/// Returns the members of an object, the required ones first.
pub(super) fn members(schema: &Value) -> Outcome<Vec<Member>> {
    let (properties, required) = (&schema["properties"], texts(&schema["required"])?);
    let optional =
        properties.as_object().into_iter().flat_map(|all| all.keys()).filter(|name| !required.contains(name));
    let names = required.iter().chain(optional);
    let read = |name: &String| {
        let schema = &properties[name];
        Ok(member(name, schema, required.contains(name), &Type::read(schema)?))
    };
    names.map(read).collect()
}

fn named(name: &str, schema: &Value) -> Outcome<NamedType> {
    let doc = schema["description"].as_str().unwrap_or_default().to_owned();
    if schema["enum"].is_array() {
        let form = Form::Words { words: texts(&schema["enum"])? };
        return Ok(NamedType { name: name.to_owned(), doc, form });
    }
    if schema["properties"].is_object() {
        return Ok(object(name, &doc, members(schema)?));
    }
    Ok(NamedType { name: name.to_owned(), doc, form: alias(schema)? })
}

fn alias(schema: &Value) -> Outcome<Form> {
    let target = Type::read_untitled(schema)?;
    Ok(Form::Alias { target: Rendered::from(&target), parts: target.names() })
}

/// Adds the titled objects and unions in this part of a schema.
fn collect(types: &mut Vec<NamedType>, part: &Value) -> Outcome {
    let form = match part["title"].as_str() {
        Some(_) if part["properties"].is_object() => Some(Form::Object { members: members(part)? }),
        Some(_) if part["anyOf"].is_array() => Some(alias(part)?),
        _ => None,
    };
    if let (Some(title), Some(form)) = (part["title"].as_str(), form) {
        let part = NamedType { name: title.to_owned(), doc: String::new(), form };
        if !types.iter().any(|known| known.name == part.name && is_same(&known.form, &part.form)) {
            add(types, part)?;
        }
    }
    parts(part).into_iter().try_for_each(|inner| collect(types, inner))
}

fn add(types: &mut Vec<NamedType>, new: NamedType) -> Outcome {
    if types.iter().any(|known| known.name == new.name) {
        return Err(format!("two types are called {}: give one of them another title", new.name).into());
    }
    types.push(new);
    Ok(())
}

/// Returns `true` if two types are equal except for the descriptions of their members.
fn is_same(left: &Form, right: &Form) -> bool {
    let (Form::Object { members: left }, Form::Object { members: right }) = (left, right) else {
        return left == right;
    };
    let plain = |members: &[Member]| {
        members
            .iter()
            .map(|member| (member.name.clone(), member.required, member.rendered.clone()))
            .collect::<Vec<_>>()
    };
    plain(left) == plain(right)
}

fn parts(schema: &Value) -> Vec<&Value> {
    let mut parts: Vec<&Value> =
        schema["properties"].as_object().into_iter().flat_map(|all| all.values()).collect();
    parts
        .extend(["items", "additionalProperties"].iter().map(|key| &schema[*key]).filter(|part| part.is_object()));
    for choices in ["anyOf", "oneOf", "allOf"] {
        parts.extend(schema[choices].as_array().into_iter().flatten());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::read;
    use serde_json::json;

    #[test]
    fn two_different_objects_with_one_title_are_refused() {
        let target = |member: &str| {
            json!({"properties": {"target": {
                "type": "object", "title": "Target", "properties": {member: {"type": "string"}},
            }}})
        };
        assert!(read(&json!({"Entry": target("id"), "Note": target("id")})).is_ok());
        let problem = read(&json!({"Entry": target("id"), "Note": target("name")})).unwrap_err();
        assert!(problem.to_string().contains("two types are called Target"), "{problem}");
    }
}
