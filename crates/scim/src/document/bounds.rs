//! Bounds of a SCIM document, which keep the work on one request linear.

use candor_forms::json::{Object, Value};

use super::super::error::ScimError;

/// Maximum number of members of one schema.
const MAX_MEMBERS: usize = 200;
/// Maximum number of members of one object of attributes. It is twice the maximum of a schema, because an object
/// may also remove attributes by null and contain extensions.
pub(super) const MAX_GIVEN: usize = 2 * MAX_MEMBERS;
/// Maximum number of extensions of one user.
const MAX_EXTENSIONS: usize = 16;
/// Maximum number of entries of one attribute.
const MAX_ENTRIES: usize = 200;
/// Maximum number of members of one entry and of one complex attribute. A search for a member is linear.
const MAX_SUB_ATTRIBUTES: usize = 32;
/// Maximum number of objects and lists within one another in the value of an attribute. A stored document must stay far
/// below the depth that can be read back.
const MAX_DEPTH: usize = 32;
/// Maximum size of the value of one attribute, as JSON: twice that of all attributes that are kept as sent.
const MAX_VALUE_BYTES: usize = 32 * 1024;
/// Maximum number of comparisons of entries with conditions in one request.
const MAX_COMPARISONS: usize = 10_000;
/// Maximum number of bytes that the changes of one request read and write: attributes that they change, and values that
/// they compare with entries or copy into them.
const MAX_READ_BYTES: usize = 4 * 1024 * 1024;

/// The bounds of the changes of one request: the work that they may still cause, and the sizes that they may leave. The
/// bounds of values and of entries hold each for itself, so a change pays for their product, before the work.
#[derive(Debug)]
pub(super) struct Budget {
    comparisons: usize,
    bytes: usize,
    /// `false` for what the service itself sets: the fields of a person have bounds of their own, and a field that did
    /// not fit would look as if it were absent.
    has_bounds: bool,
}

impl Budget {
    /// Returns the budget of the service itself.
    pub(super) const fn new_unlimited() -> Self {
        Self { comparisons: usize::MAX, bytes: usize::MAX, has_bounds: false }
    }

    pub(super) const fn new() -> Self {
        Self { comparisons: MAX_COMPARISONS, bytes: MAX_READ_BYTES, has_bounds: true }
    }

    /// Takes comparisons of entries with conditions.
    pub(super) fn take_comparisons(&mut self, comparisons: usize) -> Result<(), ScimError> {
        let detail = "The conditions of the request would be compared with entries more than";
        let remedy = "Send fewer operations with conditions, or the whole attribute.";
        self.comparisons = self
            .comparisons
            .checked_sub(comparisons)
            .ok_or_else(|| ScimError::value(format!("{detail} {MAX_COMPARISONS} times. {remedy}")))?;
        Ok(())
    }

    /// Takes the comparisons of a value with entries, or its copies into them.
    pub(super) fn take_value(&mut self, bytes: usize, entries: usize) -> Result<(), ScimError> {
        self.take_bytes(bytes.saturating_mul(entries))
    }

    /// Takes one change of an attribute with this present value: a comparison with each name in its section, and a look at
    /// all of the value. A request may change one attribute many times.
    pub(super) fn take_change(&mut self, section: &Object, value: Option<&Value>) -> Result<(), ScimError> {
        if !self.has_bounds {
            return Ok(());
        }
        let names: usize = section.iter().map(|(name, _)| name.len()).sum();
        self.take_bytes(names + value.map_or(0, Value::json_bytes))
    }

    fn take_bytes(&mut self, bytes: usize) -> Result<(), ScimError> {
        if !self.has_bounds {
            return Ok(());
        }
        let detail = "The changes of the request would read and write attributes and values of more than";
        let remedy = "Send fewer operations, or shorter values.";
        self.bytes = self
            .bytes
            .checked_sub(bytes)
            .ok_or_else(|| ScimError::value(format!("{detail} {MAX_READ_BYTES} bytes. {remedy}")))?;
        Ok(())
    }

    /// Checks the bounds of a value and of all values in it, before any work on it.
    pub(super) fn check_size(&self, name: &str, value: &Value) -> Result<(), ScimError> {
        if !self.has_bounds {
            return Ok(());
        }
        check_levels(name, value, MAX_DEPTH)?;
        self.check_bytes(name, value.json_bytes())
    }

    /// Checks the size that an attribute has, or will have.
    pub(super) fn check_bytes(&self, name: &str, bytes: usize) -> Result<(), ScimError> {
        if !self.has_bounds || bytes <= MAX_VALUE_BYTES {
            return Ok(());
        }
        Err(ScimError::value(format!(
            "`{name}` has more than {MAX_VALUE_BYTES} bytes of JSON. Send a shorter value."
        )))
    }

    /// Checks the number of entries that an attribute has, or will have.
    pub(super) fn check_entries(&self, name: &str, entries: usize) -> Result<(), ScimError> {
        if self.has_bounds && entries > MAX_ENTRIES { Err(too_many(name)) } else { Ok(()) }
    }

    /// Checks that the schema has room for one more attribute, and the user for the schema if it is new.
    pub(super) fn check_room(&self, section: Option<&Object>, extensions: usize) -> Result<(), ScimError> {
        match section {
            Some(members) if self.has_bounds && members.len() >= MAX_MEMBERS => {
                Err(ScimError::value(format!("A user has at most {MAX_MEMBERS} attributes in one schema.")))
            }
            None if self.has_bounds && extensions >= MAX_EXTENSIONS => {
                Err(ScimError::value(format!("A user has at most {MAX_EXTENSIONS} extensions.")))
            }
            Some(_) | None => Ok(()),
        }
    }
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

fn too_many(name: &str) -> ScimError {
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

    fn patch(operations: &[serde_json::Value]) -> Vec<PatchOperation> {
        let body = serde_json::json!({"Operations": operations});
        PatchOperation::parse_all(&serde_json::from_value(body).unwrap()).unwrap()
    }

    /// Each value and each number of entries is within its bound, and their product is not.
    #[test]
    fn value_is_copied_into_entries_up_to_the_size_of_an_attribute() {
        let entries: Vec<_> =
            (0..200).map(|number| serde_json::json!({"value": number.to_string(), "type": "x"})).collect();
        let add = serde_json::json!({"op": "add", "path": "addresses", "value": entries});
        let tree = |values: usize| {
            let lists: Vec<_> = vec![serde_json::json!(vec![1; 100]); values / 100];
            serde_json::json!({"op": "replace", "path": r#"addresses[type eq "x"].zz"#, "value": {"a": lists}})
        };
        let apply =
            |operation: serde_json::Value| document("{}").unwrap().apply(&patch(&[add.clone(), operation]));
        let text = |value: &str| {
            apply(serde_json::json!({"op": "add", "path": r#"addresses[type eq "x"].zz"#, "value": value}))
        };
        assert!(text("short").is_ok(), "{:?}", text("short"));
        for refusal in [apply(tree(1_000)), apply(tree(3_000)), text(&"a".repeat(1_000))] {
            assert!(refusal.unwrap_err().detail.contains("bytes of JSON"));
        }
        assert!(apply(tree(10_000)).is_err(), "the value alone");
        let path_as_name =
            format!(r#"{{"addresses":{},"addresses[type eq \"x\"].zz":{}}}"#, add["value"], tree(1_000)["value"]);
        assert!(document(&path_as_name).unwrap_err().contains("bytes of JSON"));
    }

    #[test]
    fn comparisons_of_new_values_with_entries_are_bounded() {
        let entries = |chars: usize| -> Vec<_> {
            (0..90).map(|number| serde_json::json!({"value": format!("{}{number}", "a".repeat(chars))})).collect()
        };
        for path in ["addresses", "shelf"] {
            let add = |chars| serde_json::json!({"op": "add", "path": path, "value": entries(chars)});
            let apply = |operations: &[serde_json::Value]| document("{}").unwrap().apply(&patch(operations));
            assert!(apply(&vec![add(10); 5]).is_ok(), "{path}: {:?}", apply(&vec![add(10); 5]));
            assert!(apply(&vec![add(300); 5]).unwrap_err().detail.contains("would read and write"), "{path}");
        }
    }

    /// Each operation, and the attribute that it changes, is within its bound, and their product is not.
    #[test]
    fn changes_of_one_large_attribute_are_bounded() {
        let lists = |members: usize| -> serde_json::Value {
            (0..members).map(|number| (format!("m{number}"), serde_json::json!(vec![[(); 0]; 198]))).collect()
        };
        let operations = [
            serde_json::json!({"op": "add", "value": {"q.0": 1, "q.1": 1}}),
            serde_json::json!({"op": "add", "path": "q.0", "value": 1}),
            serde_json::json!({"op": "replace", "path": "q", "value": {"0": 1}}),
            serde_json::json!({"op": "replace", "path": "q", "value": {"0": null, "1": null}}),
            serde_json::json!({"op": "remove", "path": "q.0"}),
            serde_json::json!({"op": "add", "path": "q[type eq \"x\"].a", "value": 1}),
            serde_json::json!({"op": "remove", "path": "q[type eq \"x\"].a"}),
        ];
        let object = |members| serde_json::json!({"q": lists(members)}).to_string();
        let list = |members| serde_json::json!({"q": [lists(members), {"type": "x", "value": "y"}]}).to_string();
        for (operation, body) in operations.iter().flat_map(|one| [(one, object(26)), (one, list(26))]) {
            let result = document(&body).unwrap().apply(&patch(&vec![operation.clone(); 500]));
            // The first of them replaces the large list by a small value.
            let becomes_small = result.as_ref().is_ok_and(|user| user.to_object().json_bytes() < 1_000);
            let detail = result.map_or_else(|error| error.detail, |_| String::new());
            let is_refused = detail.contains("would read") || detail.contains("has no entries");
            assert!(becomes_small || is_refused, "{operation}: {detail}");
        }
        for operation in &operations[..5] {
            let result = document(&object(2)).unwrap().apply(&patch(&vec![operation.clone(); 500]));
            assert!(result.is_ok(), "{operation}: {result:?}");
        }
    }

    /// A value that a path cannot take leaves its attribute and all others as they were.
    #[test]
    fn put_of_an_impossible_value_changes_nothing() {
        let user =
            document(r#"{"emails":[{"value":"a@x.example"}],"nickName":"Ada","urn:x:2:User":{"a":"b"}}"#).unwrap();
        for (path, value) in [
            (r#"emails[type eq "work"]"#, "[]"),
            ("nickName.x", "\"x\""),
            ("urn:x:2:User:a.b", "\"x\""),
            (r#"nickName[type eq "work"].x"#, "\"x\""),
        ] {
            let mut changed_user = user.clone();
            changed_user.put(&crate::ScimPath::parse(path).unwrap(), serde_json::from_str(value).unwrap());
            assert_eq!(changed_user, user, "{path}");
        }
    }

    /// The values that the service sets are bounded elsewhere. A value that was left out here would look as if it were removed.
    #[test]
    fn put_has_no_bounds() {
        let long = candor_forms::json::Value::Text("x".repeat(super::MAX_VALUE_BYTES));
        let members = members(super::MAX_SUB_ATTRIBUTES);
        let user =
            document(&format!(r#"{{"q":{{{members}}},{}"#, &extensions(super::MAX_EXTENSIONS)[1..])).unwrap();
        for path in ["nickName", "q.other", "urn:x:99:User:a", "urn:x:1:User:b"] {
            let (mut changed_user, path) = (user.clone(), crate::ScimPath::parse(path).unwrap());
            changed_user.put(&path, long.clone());
            assert_eq!(changed_user.value_at(&path), Some(&long), "{path:?}");
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
