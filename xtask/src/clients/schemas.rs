//! The named types of the document: its schemas, and the titled objects inside them.

use super::document::{member, members as object_members, object, texts};
use super::model::{Family, Form, Member, NamedType, RenderedType, Tag};
use super::types::{Type, is_open, reference};
use crate::process::Outcome;
use serde_json::Value;

/// Returns the types of all schemas except pages, and of the titled objects and unions inside them. The types are
/// sorted by name, with the unions of unions at the end.
pub(super) fn read(schemas: &Value) -> Outcome<Vec<NamedType>> {
    let mut types = Vec::new();
    for (name, schema) in object_members(schemas)?.iter().filter(|(_, schema)| page_items(schema).is_none()) {
        add(&mut types, named_type(schemas, name, schema)?)?;
        for part in parts(schema) {
            collect(&mut types, part)?;
        }
    }
    types.sort_by(|left, right| left.name.cmp(&right.name));
    // Unions of unions come last: Python evaluates the parts of a union at its declaration.
    let unions: Vec<String> =
        types.iter().filter(|named| joins(named, |_| true)).map(|named| named.name.clone()).collect();
    types.sort_by_key(|named| joins(named, |part| unions.contains(part)));
    Ok(types)
}

/// Returns `true` for a union with a part for which `is_such` holds.
fn joins(named: &NamedType, is_such: impl Fn(&String) -> bool) -> bool {
    matches!(&named.form, Form::Alias { parts, .. } if parts.iter().any(is_such))
}

/// Returns the member that tells the parts of a union apart, with the words of each part. `None` for a union
/// without such a member.
pub(super) fn tag(schemas: &Value, union: &str) -> Outcome<Option<Tag>> {
    let Some(member) = schemas[union]["discriminator"]["propertyName"].as_str() else { return Ok(None) };
    let parts = schemas[union]["oneOf"].as_array().into_iter().flatten().filter_map(reference);
    let family = |part: &str| -> Outcome<Family> {
        let schema = &schemas[part]["properties"][member];
        let words = match (schema["const"].as_str(), reference(schema)) {
            (Some(word), _) => vec![word.to_owned()],
            (None, Some(words)) => texts(&schemas[words]["enum"])?,
            (None, None) => vec![],
        };
        Ok(Family { name: part.to_owned(), words })
    };
    let families = parts.map(family).collect::<Outcome<Vec<_>>>()?;
    let families = families.into_iter().filter(|family| !family.words.is_empty()).collect();
    Ok(Some(Tag { member: member.to_owned(), families }))
}

/// Returns the types of exported rows, each after the prefix of its ids. Leaves out prefixes of several types.
pub(super) fn row_types(schemas: &Value) -> Outcome<Vec<(String, String)>> {
    let families = tag(schemas, "ExportRow")?.map(|tag| tag.families).unwrap_or_default();
    let row_type = |Family { name, words }: &Family| {
        let data = reference(&schemas[name]["properties"]["data"])?;
        let pattern = schemas[data]["properties"]["id"]["pattern"].as_str()?;
        let (prefix, _) = pattern.trim_start_matches('^').split_once('_')?;
        Some((prefix.to_owned(), words.first()?.clone()))
    };
    let mut row_types: Vec<_> = families.iter().filter_map(row_type).collect();
    let prefixes: Vec<_> = row_types.iter().map(|(prefix, _)| prefix.clone()).collect();
    row_types.retain(|(prefix, _)| prefixes.iter().filter(|one| *one == prefix).count() == 1);
    Ok(row_types)
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

fn named_type(schemas: &Value, name: &str, schema: &Value) -> Outcome<NamedType> {
    let doc = schema["description"].as_str().unwrap_or_default().to_owned();
    if schema["enum"].is_array() {
        let form = Form::Words { words: texts(&schema["enum"])? };
        return Ok(NamedType { name: name.to_owned(), doc, form });
    }
    if schema["properties"].is_object() {
        return Ok(object(name, &doc, members(schema)?));
    }
    Ok(NamedType { name: name.to_owned(), doc, form: alias(schema, tag(schemas, name)?)? })
}

fn alias(schema: &Value, tag: Option<Tag>) -> Outcome<Form> {
    let target = Type::read_untitled(schema)?;
    Ok(Form::Alias { target: RenderedType::from(&target), parts: target.names(), tag })
}

/// Adds the titled objects and unions in this part of a schema.
fn collect(types: &mut Vec<NamedType>, part: &Value) -> Outcome {
    let form = match part["title"].as_str() {
        Some(_) if part["properties"].is_object() && !is_open(part) => {
            Some(Form::Object { members: members(part)? })
        }
        Some(_) if part["anyOf"].is_array() => Some(alias(part, None)?),
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
    use super::{read, tag};
    use serde_json::json;

    #[test]
    fn union_is_told_apart_by_its_discriminator() {
        let row = |kind: serde_json::Value| json!({"type": "object", "properties": {"type": kind}});
        let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
        let schemas = json!({
            "Line": {"anyOf": [reference("End"), reference("Row")]},
            "End": row(json!({"const": "end"})),
            "PersonRow": row(json!({"const": "person"})),
            "OtherRow": row(json!({"type": "string", "not": {"anyOf": [{"const": "person"}]}})),
            "Row": {
                "oneOf": [reference("PersonRow"), reference("OtherRow")],
                "discriminator": {"propertyName": "type"},
            },
        });
        let tag_name = tag(&schemas, "Row").unwrap().unwrap();
        let families: Vec<_> = tag_name.families.iter().map(|family| (&*family.name, &*family.words)).collect();
        assert_eq!((&*tag_name.member, families), ("type", vec![("PersonRow", &["person".to_owned()][..])]));
        assert_eq!(tag(&schemas, "Line").unwrap(), None);
        let names: Vec<_> = read(&schemas).unwrap().into_iter().map(|named| named.name).collect();
        assert_eq!(names, ["End", "OtherRow", "PersonRow", "Row", "Line"], "unions of unions come last");
    }

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
