//! Folds the regular expressions of fields in the reference, so that readers see the descriptions first.

use serde_json::{Map, Value};

/// Moves every `pattern` of the document into a collapsed part of its description.
pub(super) fn fold(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(fold),
        Value::Object(members) => {
            // Parameters and headers have their description beside the schema.
            let beside = members.get_mut("schema").and_then(Value::as_object_mut).and_then(take);
            if let Some(pattern) = take(members).or(beside) {
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
    let folded = format!("<details><summary>Pattern</summary>\n\n`{pattern}`\n\n</details>");
    let text = if first.is_empty() { folded } else { format!("{first}\n\n{folded}") };
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
        let folded = |pattern: &str| format!("<details><summary>Pattern</summary>\n\n`{pattern}`\n\n</details>");
        let id = format!("The id.\n\n{}", folded("^a$"));
        let wanted = json!({
            "parameters": [{"name": "id", "description": id, "schema": {"type": "string"}}],
            "properties": {"pattern": {"type": "string", "description": folded("^b$")}},
        });
        assert_eq!(document, wanted);
    }

    #[test]
    fn reference_shows_no_pattern_unfolded() {
        let mut document = crate::openapi::document();
        fold(&mut document);
        assert!(!document.to_string().contains(r#""pattern":"^"#));
    }
}
