//! Values of the document's examples, as literals of each language.

use minijinja::Environment;
use minijinja::value::ViaDeserialize;
use serde_json::Value;

/// Maximum columns of a literal of TypeScript that stays on one line.
const INLINE: usize = 64;
/// Maximum columns of a call of Python that stays on one line, without its indentation.
const CALL: usize = 80;
/// Indentation of an argument of Python inside a call that is indented once.
const ARGUMENT: &str = "\n        ";

type Example = ViaDeserialize<Value>;

/// Adds the filters that only templates of samples use.
pub(super) fn add_filters(environment: &mut Environment<'_>) {
    environment.add_filter("typescript", |value: Example, width: Option<usize>| {
        typescript(&value, "", width.unwrap_or(INLINE))
    });
    environment.add_filter("python", |value: Example| python(&value));
    environment.add_filter("python_arguments", |members: Example| python_arguments(&members));
    environment.add_filter("python_call", |method: &str, arguments: Vec<String>| python_call(method, &arguments));
    environment.add_filter("shell_json", |value: Example| shell_json(&value));
}

/// Returns JSON, escaped for use between single quotes in a shell.
fn shell_json(value: &Value) -> String {
    format!("{value:#}").replace('\'', r"'\''")
}

/// Returns a literal of TypeScript. The literal stays on one line if it has at most `width` columns; otherwise
/// `margin` precedes each further line.
fn typescript(value: &Value, margin: &str, width: usize) -> String {
    let inner = format!("{margin}  ");
    let (open, close, entries): (&str, &str, Vec<String>) = match value {
        Value::Object(members) => {
            let entry =
                |(name, value): (&String, &Value)| format!("{}: {}", key(name), typescript(value, &inner, INLINE));
            ("{ ", " }", members.iter().map(entry).collect())
        }
        Value::Array(values) => ("[", "]", values.iter().map(|value| typescript(value, &inner, INLINE)).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return value.to_string(),
    };
    let line = format!("{open}{}{close}", entries.join(", "));
    if entries.is_empty() {
        return format!("{}{}", open.trim(), close.trim());
    }
    if line.len() <= width && !line.contains('\n') {
        return line;
    }
    let entries: String = entries.iter().map(|entry| format!("{inner}{entry},\n")).collect();
    format!("{}\n{entries}{margin}{}", open.trim(), close.trim())
}

/// Returns a member's name: with quotes, unless it is an identifier.
fn key(name: &str) -> String {
    let is_identifier = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if is_identifier && !name.starts_with(|first: char| first.is_ascii_digit()) {
        name.to_owned()
    } else {
        Value::from(name).to_string()
    }
}

/// Returns a literal of Python on one line.
fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(_) | Value::String(_) => value.to_string(),
        Value::Array(values) => format!("[{}]", values.iter().map(python).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let entries =
                members.iter().map(|(name, value)| format!("{}: {}", Value::from(name.as_str()), python(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns the members of an object as named arguments; none for another value.
fn python_arguments(members: &Value) -> Vec<String> {
    let members = members.as_object().into_iter().flatten();
    members.map(|(name, value)| format!("{name}={}", python(value))).collect()
}

/// Returns a call in a block of Python, with an argument on each line if one line would be too long.
fn python_call(method: &str, arguments: &[String]) -> String {
    let line = format!("{method}({})", arguments.join(", "));
    if line.len() <= CALL || arguments.is_empty() {
        return line;
    }
    let arguments: String = arguments.iter().map(|argument| format!("{ARGUMENT}{argument},")).collect();
    format!("{method}({arguments}\n    )")
}

#[cfg(test)]
mod tests {
    use super::{INLINE, python, python_arguments, python_call, shell_json, typescript};
    use serde_json::json;

    #[test]
    fn quote_does_not_end_the_argument_of_a_shell() {
        assert_eq!(shell_json(&json!("O'Brien")), r#""O'\''Brien""#);
    }

    #[test]
    fn literals_are_written_as_their_language_has_them() {
        let value = json!({"badge": 7, "left at": null, "tags": ["a \"b\""], "remote": true});
        assert_eq!(
            typescript(&value, "", INLINE),
            r#"{ badge: 7, "left at": null, remote: true, tags: ["a \"b\""] }"#
        );
        assert_eq!(python(&value), r#"{"badge": 7, "left at": None, "remote": True, "tags": ["a \"b\""]}"#);
    }

    #[test]
    fn long_literal_has_a_line_for_each_member() {
        let long = "x".repeat(60);
        let expected_text = format!("{{\n  inner: {{ id: 1 }},\n  text: \"{long}\",\n}}");
        assert_eq!(typescript(&json!({"text": long, "inner": {"id": 1}}), "", INLINE), expected_text);
        assert_eq!(typescript(&json!({"list": [], "map": {}}), "", INLINE), "{ list: [], map: {} }");
    }

    #[test]
    fn long_call_has_a_line_for_each_argument() {
        assert_eq!(python_call("me.get", &[]), "me.get()");
        assert_eq!(python_call("get", &python_arguments(&json!({"id": 1, "to": null}))), "get(id=1, to=None)");
        let long = "x".repeat(80);
        let expected_text = format!("get(\n        \"{long}\",\n    )");
        assert_eq!(python_call("get", &[python(&json!(long))]), expected_text);
    }
}
