//! Bounds of a SCIM document, which keep the work on one request linear.

use candor_forms::json::Value;

use super::super::error::ScimError;

/// Maximum number of members of one schema.
pub(super) const MAX_MEMBERS: usize = 200;
/// Maximum number of members of one object of attributes. It is twice the maximum of a schema, because an object
/// may also remove attributes by null and contain extensions.
pub(super) const MAX_GIVEN: usize = 2 * MAX_MEMBERS;
/// Maximum number of extensions of one user.
pub(super) const MAX_EXTENSIONS: usize = 16;
/// Maximum number of entries of one attribute.
pub(super) const MAX_ENTRIES: usize = 200;
/// Maximum number of members of one entry and of one complex attribute. A search for a member is linear.
const MAX_SUB_ATTRIBUTES: usize = 32;
/// Maximum number of objects and lists within one another in the value of an attribute. A stored document must stay far
/// below the depth that can be read back.
const MAX_DEPTH: usize = 32;
/// Maximum number of comparisons of entries with conditions in one request.
const MAX_COMPARISONS: usize = 10_000;

/// The comparisons of entries with conditions that a request may still cause.
#[derive(Debug)]
pub(super) struct ComparisonBudget(usize);

impl ComparisonBudget {
    pub(super) const fn new() -> Self {
        Self(MAX_COMPARISONS)
    }

    pub(super) fn take(&mut self, comparisons: usize) -> Result<(), ScimError> {
        let detail = "The conditions of the request would be compared with entries more than";
        let remedy = "Send fewer operations with conditions, or the whole attribute.";
        self.0 = self
            .0
            .checked_sub(comparisons)
            .ok_or_else(|| ScimError::value(format!("{detail} {MAX_COMPARISONS} times. {remedy}")))?;
        Ok(())
    }
}

/// Checks the bounds of a value and of all values in it, before any work on it.
pub(super) fn check_size(name: &str, value: &Value) -> Result<(), ScimError> {
    check_levels(name, value, MAX_DEPTH)
}

fn check_levels(name: &str, value: &Value, levels: usize) -> Result<(), ScimError> {
    match value {
        Value::List(_) | Value::Object(_) if levels == 0 => {
            let detail =
                format!("`{name}` has more than {MAX_DEPTH} objects or lists within one another. Send fewer.");
            Err(ScimError::value(detail))
        }
        Value::List(items) if items.len() > MAX_ENTRIES => Err(too_many(name)),
        Value::List(items) => items.iter().try_for_each(|item| check_levels(name, item, levels - 1)),
        Value::Object(members) if members.len() > MAX_SUB_ATTRIBUTES => {
            let detail = format!("`{name}` has more than {MAX_SUB_ATTRIBUTES} members in one object. Send fewer.");
            Err(ScimError::value(detail))
        }
        Value::Object(members) => members.iter().try_for_each(|(_, value)| check_levels(name, value, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => Ok(()),
    }
}

pub(super) fn too_many(name: &str) -> ScimError {
    ScimError::value(format!("`{name}` has at most {MAX_ENTRIES} entries."))
}

#[cfg(test)]
mod tests {
    use super::super::UserDocument;
    use crate::PatchOperation;
    use candor_forms::json::Object;

    fn document(body: &str) -> Result<UserDocument, String> {
        UserDocument::from_body(serde_json::from_str::<Object>(body).unwrap()).map_err(|error| error.detail)
    }

    #[test]
    fn depth_of_values_is_bounded_also_in_json_texts() {
        let nest_objects = |levels: usize| format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
        assert!(document(&format!(r#"{{"userName":"ada","bar":{}}}"#, nest_objects(super::MAX_DEPTH))).is_ok());
        let refusal = document(&format!(r#"{{"userName":"ada","bar":{}}}"#, nest_objects(super::MAX_DEPTH + 1)));
        assert!(refusal.unwrap_err().contains("within one another"));
        let patch = serde_json::json!({"Operations": [{"op": "add", "path": "bar", "value": nest_objects(100)}]});
        let operations = PatchOperation::parse_all(&serde_json::from_value::<Object>(patch).unwrap()).unwrap();
        let user = document(r#"{"userName":"ada"}"#).unwrap();
        assert!(user.apply(&operations).unwrap_err().detail.contains("within one another"));
    }

    fn members(count: usize) -> String {
        (0..count).map(|number| format!(r#""a{number}":1"#)).collect::<Vec<_>>().join(",")
    }

    fn extensions(count: usize) -> String {
        let members = (0..count).map(|number| format!(r#""urn:x:{number}:User":{{"a":1}}"#));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }

    #[test]
    fn document_beyond_a_bound_is_refused_and_at_the_bound_kept() {
        let entry = |count| format!(r#"{{"phoneNumbers":[{{{}}}]}}"#, members(count));
        let complex = |count| format!(r#"{{"name":{{{}}}}}"#, members(count));
        let unknown = |count| format!(r#"{{"shelf":[{{"a":{{{}}}}}]}}"#, members(count));
        let entries = |count| {
            let texts: Vec<String> = (0..count).map(|number| format!(r#""{number}""#)).collect();
            format!(r#"{{"phoneNumbers":[{}]}}"#, texts.join(","))
        };
        let flat = |count| format!("{{{}}}", members(count));
        type Shape<'a> = (&'a str, &'a dyn Fn(usize) -> String, usize);
        let table: [Shape<'_>; 6] = [
            ("entry", &entry, 32),
            ("complex", &complex, 32),
            ("unknown", &unknown, 32),
            ("entries", &entries, 200),
            ("flat", &flat, 200),
            ("extensions", &extensions, 16),
        ];
        for (shape, body, most) in table {
            assert!(document(&body(most)).is_ok(), "{shape}: {:?}", document(&body(most)));
            for count in [most + 1, 18_000] {
                assert!(document(&body(count)).is_err(), "{shape} of {count}");
            }
        }
    }

    #[test]
    fn patch_cannot_grow_an_object_beyond_its_bound() {
        for path in ["name.a", "shelf.a", "phoneNumbers[type eq \\\"work\\\"].a"] {
            let grow = |count: usize| {
                let operations =
                    (0..count).map(|number| format!(r#"{{"op":"add","path":"{path}{number}","value":"x"}}"#));
                let body = format!(r#"{{"Operations":[{}]}}"#, operations.collect::<Vec<_>>().join(","));
                let operations = PatchOperation::parse_all(&serde_json::from_str(&body).unwrap()).unwrap();
                document("{}").unwrap().apply(&operations)
            };
            assert!(grow(31).is_ok(), "{path}: {:?}", grow(31));
            assert!(grow(33).is_err(), "{path}");
        }
    }

    #[test]
    fn comparisons_of_one_request_are_bounded() {
        let addresses: Vec<String> = (0..180).map(|number| format!(r#"{{"value":"{number}漢"}}"#)).collect();
        let document_before = document(&format!(r#"{{"addresses":[{}]}}"#, addresses.join(","))).unwrap();
        let operations = |count: usize| {
            let one = r#"{"op":"remove","path":"addresses[value eq \"q\"].type"}"#;
            let body = format!(r#"{{"Operations":[{}]}}"#, vec![one; count].join(","));
            PatchOperation::parse_all(&serde_json::from_str(&body).unwrap()).unwrap()
        };
        assert!(document_before.apply(&operations(10_000 / 180)).is_ok());
        let error = document_before.apply(&operations(10_000 / 180 + 1)).unwrap_err();
        assert!(error.detail.contains("10000 times"), "{}", error.detail);
    }
}
