//! Operations of a PATCH, in the forms that identity providers send.

use candor_forms::json::{Object, Value, ValueSize};

use super::error::{ScimError, ScimErrorType};
use super::path::ScimPath;

/// Maximum number of operations of one PATCH.
pub const MAX_OPERATIONS: usize = 500;

/// Maximum number of values in the JSON texts of one PATCH together, members included. The bound of the body counts
/// such a text as one value.
const MAX_TEXT_VALUES: usize = 4_000;

/// The verb of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchVerb {
    /// Adds a value, or sets it if the attribute has one value.
    Add,
    /// Replaces the value of an attribute.
    Replace,
    /// Removes a value or an attribute.
    Remove,
}

/// An operation of a PATCH (RFC 7644 §3.5.2).
#[derive(Debug, Clone, PartialEq)]
pub struct PatchOperation {
    /// The verb, read without case.
    pub verb: PatchVerb,
    /// The changed attribute; `None` if the value names the attributes.
    pub path: Option<ScimPath>,
    /// The value; `None` for null and absence.
    pub value: Option<Value>,
}

/// Returns the first member with this name, compared without case.
pub(super) fn member<'a>(object: &'a Object, name: &str) -> Option<&'a Value> {
    object.iter().find(|(member, _)| member.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

impl PatchOperation {
    /// Reads the body of a PATCH.
    ///
    /// # Errors
    /// `invalidSyntax` for a body without operations, an unknown verb, too many operations or too many values in
    /// their JSON texts; the errors of [`ScimPath::parse`].
    pub fn parse_all(body: &Object) -> Result<Vec<Self>, ScimError> {
        let operations = match member(body, "Operations") {
            Some(Value::List(operations)) => operations.as_slice(),
            Some(operation @ Value::Object(_)) => std::slice::from_ref(operation),
            _ => {
                return Err(ScimError::syntax("The body must have the member `Operations`, an array of objects."));
            }
        };
        if operations.len() > MAX_OPERATIONS {
            return Err(ScimError::syntax(format!("A PATCH has at most {MAX_OPERATIONS} operations.")));
        }
        let objects = operations
            .iter()
            .filter_map(|operation| if let Value::Object(object) = operation { Some(object) } else { None });
        let texts = objects.filter_map(|operation| member(operation, "value").and_then(json_text));
        if texts.map(|text| ValueSize::measure(text.as_bytes()).values).sum::<usize>() > MAX_TEXT_VALUES {
            let limit =
                format!("The JSON texts of a PATCH have at most {MAX_TEXT_VALUES} values. Send objects instead.");
            return Err(ScimError::syntax(limit));
        }
        operations.iter().map(Self::parse).collect()
    }

    fn parse(operation: &Value) -> Result<Self, ScimError> {
        let Value::Object(operation) = operation else {
            return Err(ScimError::syntax("Each operation must be an object."));
        };
        let verb = match member(operation, "op") {
            Some(Value::Text(verb)) if verb.eq_ignore_ascii_case("add") => PatchVerb::Add,
            Some(Value::Text(verb)) if verb.eq_ignore_ascii_case("replace") => PatchVerb::Replace,
            Some(Value::Text(verb)) if verb.eq_ignore_ascii_case("remove") => PatchVerb::Remove,
            _ => return Err(ScimError::syntax("`op` must be add, replace or remove.")),
        };
        let path = match member(operation, "path") {
            None | Some(Value::Null) => None,
            Some(Value::Text(path)) if path.trim().is_empty() => None,
            Some(Value::Text(path)) => Some(ScimPath::parse(path)?),
            Some(_) => return Err(ScimError::new(ScimErrorType::InvalidPath, "`path` must be a string.")),
        };
        let value = member(operation, "value").filter(|value| **value != Value::Null);
        let value = value.map(|value| object_in_text(value).unwrap_or_else(|| value.clone()));
        if path.is_none() && verb == PatchVerb::Remove {
            return Err(ScimError::new(ScimErrorType::NoTarget, "An operation `remove` must have a `path`."));
        }
        Ok(Self { verb, path, value })
    }
}

/// Returns the text that may hold an object as JSON; `None` for any other value. Some providers send the value of an
/// operation in this form.
fn json_text(value: &Value) -> Option<&str> {
    let Value::Text(text) = value else { return None };
    text.trim_start().starts_with('{').then_some(text)
}

fn object_in_text(value: &Value) -> Option<Value> {
    serde_json::from_str(json_text(value)?).ok().filter(|parsed| matches!(parsed, Value::Object(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(body: &str) -> Option<ScimErrorType> {
        PatchOperation::parse_all(&serde_json::from_str(body).unwrap()).unwrap_err().kind
    }

    #[test]
    fn values_in_json_texts_are_bounded_together() {
        let operation = |count: usize| {
            let inner_text = format!(r#"{{"a":[{}1]}}"#, "1,".repeat(count));
            serde_json::json!({"op": "replace", "value": inner_text})
        };
        let body = |counts: &[usize]| {
            let operations: Vec<_> = counts.iter().map(|count| operation(*count)).collect();
            serde_json::json!({"Operations": operations}).to_string()
        };
        let parse = |counts: &[usize]| PatchOperation::parse_all(&serde_json::from_str(&body(counts)).unwrap());
        let most = MAX_TEXT_VALUES - 4;
        assert!(matches!(parse(&[most]).unwrap()[0].value, Some(Value::Object(_))));
        assert_eq!(kind(&body(&[most + 2])), Some(ScimErrorType::InvalidSyntax));
        assert_eq!(kind(&body(&[most / 2, most / 2 + 2])), Some(ScimErrorType::InvalidSyntax));
    }

    #[test]
    fn verbs_and_members_are_read_without_case() {
        let body = r#"{"operations":[{"OP":"Replace","Path":"active","Value":"False"},{"op":"ADD","value":{}}]}"#;
        let operations = PatchOperation::parse_all(&serde_json::from_str(body).unwrap()).unwrap();
        let verbs: Vec<_> = operations.iter().map(|operation| operation.verb).collect();
        assert_eq!(verbs, [PatchVerb::Replace, PatchVerb::Add]);
        assert_eq!(operations[0].value, Some(Value::Text("False".to_owned())));
    }

    #[test]
    fn text_with_a_json_object_is_that_object() {
        let value = |text: &str| {
            let body = serde_json::json!({"Operations": [{"op": "replace", "value": text}]}).to_string();
            PatchOperation::parse_all(&serde_json::from_str(&body).unwrap()).unwrap().pop().unwrap().value
        };
        let object = serde_json::from_str(r#"{"active": false}"#).unwrap();
        assert_eq!(value(r#" {"active": false}"#), Some(object));
        for text in ["{active: false}", r#"["x"]"#, "{", "x"] {
            assert_eq!(value(text), Some(Value::Text(text.to_owned())));
        }
    }

    #[test]
    fn malformed_operation_is_refused() {
        use ScimErrorType::{InvalidPath, InvalidSyntax, NoTarget};
        let many = format!(r#"{{"Operations":[{}]}}"#, vec![r#"{"op":"add","path":"a"}"#; 501].join(","));
        let table = [
            ("{}", InvalidSyntax),
            (r#"{"Operations":1}"#, InvalidSyntax),
            (r#"{"Operations":[1]}"#, InvalidSyntax),
            (r#"{"Operations":[{}]}"#, InvalidSyntax),
            (r#"{"Operations":[{"op":"move","path":"a"}]}"#, InvalidSyntax),
            (r#"{"Operations":[{"op":1,"path":"a"}]}"#, InvalidSyntax),
            (r#"{"Operations":[{"op":"remove"}]}"#, NoTarget),
            (r#"{"Operations":[{"op":"remove","path":""}]}"#, NoTarget),
            (r#"{"Operations":[{"op":"add","path":1}]}"#, InvalidPath),
            (r#"{"Operations":[{"op":"add","path":"a b"}]}"#, InvalidPath),
            (&many, InvalidSyntax),
        ];
        for (body, wanted) in table {
            assert_eq!(kind(body), Some(wanted), "{body:.80}");
        }
    }
}
