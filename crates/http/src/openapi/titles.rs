//! Titles of nested object schemas. Client generators derive type names from them.

use serde_json::{Value, json};

/// Adds a title to every object without a title inside the schema `name`: the title of its parent, followed by the
/// name of the member.
pub(super) fn complete(name: &str, schema: &mut Value) {
    visit_parts(name, schema);
}

fn visit(title: &str, schema: &mut Value) {
    let is_object = schema.get("properties").is_some();
    if is_object && schema.get("title").is_none() {
        schema["title"] = json!(title);
    }
    let title = schema.get("title").and_then(Value::as_str).unwrap_or(title).to_owned();
    visit_parts(&title, schema);
}

fn visit_parts(title: &str, schema: &mut Value) {
    if let Some(members) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for (member, part) in members {
            visit(&format!("{title}{}", pascal_case(member)), part);
        }
    }
    if let Some(items) = schema.get_mut("items") {
        visit(title.strip_suffix('s').unwrap_or(title), items);
    }
    if let Some(values) = schema.get_mut("additionalProperties").filter(|values| values.is_object()) {
        visit(title, values);
    }
    for choices in ["anyOf", "oneOf", "allOf"] {
        for choice in schema.get_mut(choices).and_then(Value::as_array_mut).into_iter().flatten() {
            visit(title, choice);
        }
    }
}

fn pascal_case(name: &str) -> String {
    let capitalize = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').filter(|word| !word.is_empty()).map(capitalize).collect()
}

#[cfg(test)]
mod tests {
    use super::complete;
    use serde_json::json;

    #[test]
    fn nested_object_gets_title_of_parent_and_member() {
        let inner = json!({"type": "object", "properties": {"row_number": {"type": "integer"}}});
        let mut titled_schema = json!({"properties": {
            "dry_run": {"type": ["object", "null"], "properties": {}},
            "errors": {"type": "array", "items": inner},
        }});
        complete("CsvReport", &mut titled_schema);
        assert_eq!(titled_schema["properties"]["dry_run"]["title"], "CsvReportDryRun");
        assert_eq!(titled_schema["properties"]["errors"]["items"]["title"], "CsvReportError");
        assert!(
            titled_schema.get("title").is_none() && titled_schema["properties"]["errors"].get("title").is_none()
        );
    }

    #[test]
    fn own_title_of_nested_object_is_kept() {
        let mut titled_schema =
            json!({"properties": {"actor": {"title": "Actor", "properties": {"key": {"properties": {}}}}}});
        complete("Entry", &mut titled_schema);
        assert_eq!(titled_schema["properties"]["actor"]["title"], "Actor");
        assert_eq!(titled_schema["properties"]["actor"]["properties"]["key"]["title"], "ActorKey");
    }
}
