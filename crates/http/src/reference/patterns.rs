//! Folds the regular expressions of fields in the reference, so that readers see the descriptions first.

use serde_json::{Map, Value};

/// Moves every `pattern` of the document into a collapsed part of its description.
pub(super) fn fold(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(fold),
        Value::Object(members) => {
            // Parameters and headers have their description beside the schema.
            let pattern_of_schema = members.get_mut("schema").and_then(Value::as_object_mut).and_then(take);
            if let Some(pattern) = take(members).or(pattern_of_schema) {
                describe(members, &pattern);
            }
            members.values_mut().for_each(fold);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn take(members: &mut Map<String, Value>) -> Option<String> {
    members.get("pattern")?.as_str()?;
    members.remove("pattern").and_then(|pattern| pattern.as_str().map(str::to_owned))
}

fn describe(members: &mut Map<String, Value>, pattern: &str) {
    let first = members.get("description").and_then(Value::as_str).unwrap_or_default();
    let details_html = format!("<details><summary>Pattern</summary>\n\n`{pattern}`\n\n</details>");
    let text = if first.is_empty() { details_html } else { format!("{first}\n\n{details_html}") };
    members.insert("description".to_owned(), text.into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn patterns_move_into_folded_descriptions() {
        let mut document = json!({
            "parameters": [{"name": "id", "description": "The id.", "schema": {"type": "string", "pattern": "^a$"}}],
            "properties": {"pattern": {"type": "string", "pattern": "^b$"}},
        });
        fold(&mut document);
        let details_html =
            |pattern: &str| format!("<details><summary>Pattern</summary>\n\n`{pattern}`\n\n</details>");
        let id = format!("The id.\n\n{}", details_html("^a$"));
        let expected_schema = json!({
            "parameters": [{"name": "id", "description": id, "schema": {"type": "string"}}],
            "properties": {"pattern": {"type": "string", "description": details_html("^b$")}},
        });
        assert_eq!(document, expected_schema);
    }

    #[test]
    fn reference_shows_no_pattern_unfolded() {
        let mut document = crate::openapi::document();
        fold(&mut document);
        assert!(!document.to_string().contains(r#""pattern":"^"#));
    }
}
