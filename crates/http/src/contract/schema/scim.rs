//! Schemas of SCIM: users, changes of users and documents about the service. The attributes are those that the
//! domain publishes at `/Schemas`; other attributes are kept and returned as sent.

use candor_scim::{CORE, ENTERPRISE, MAX_OPERATIONS, MAX_PAGE, schemas};
use serde_json::{Map, Value, json};

use super::shapes::reference_to;

/// URN of the body of a PATCH.
pub(crate) const PATCH_SCHEMA: &str = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

/// Returns the schema of an object with these properties, which may have other members as well.
fn open_object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": {}})
}

fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

fn urns() -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": "URNs of the schemas of this object."})
}

/// Returns the attributes of a schema of users, by name. A value of most attributes may have any type.
fn attributes(urn: &str) -> Value {
    let all = schemas("").into_iter().find(|schema| schema["id"] == urn).unwrap_or_default();
    let attribute = |attribute: &Value| {
        let name = attribute["name"].as_str().unwrap_or_default().to_owned();
        (name, json!({"description": attribute["description"]}))
    };
    all["attributes"].as_array().into_iter().flatten().map(attribute).collect::<Map<_, _>>().into()
}

/// Returns the schema of a user in a request.
pub(crate) fn user_body() -> Value {
    let mut members = attributes(CORE);
    members["schemas"] = urns();
    members["userName"]["type"] = json!("string");
    members["active"]["type"] = json!("boolean");
    members["externalId"] = text("Id of the person at the identity provider.");
    members[ENTERPRISE] = open_object(attributes(ENTERPRISE), &[]);
    members[ENTERPRISE]["description"] = json!("Attributes of an employee.");
    open_object(members, &["userName"])
}

/// Returns the schema of a user in a response.
pub(crate) fn user() -> Value {
    let mut user = user_body();
    user["properties"]["id"] = text("Id of the person.");
    user["properties"]["meta"] = json!({"type": "object", "description": "Times, version and URL of the user."});
    user["required"] = json!(["schemas", "id"]);
    user
}

/// Returns the schema of the body of a PATCH.
pub(crate) fn patch_body() -> Value {
    let value = json!({"description": "New value of the attribute."});
    let members = json!({"op": text("`add`, `replace` or `remove`."), "path": text("Path of an attribute."), "value": value});
    let operations = json!({"type": "array", "items": open_object(members, &["op"]), "maxItems": MAX_OPERATIONS,
                            "description": "Changes, in this order."});
    open_object(json!({"schemas": urns(), "Operations": operations}), &["Operations"])
}

/// Returns the schema of a page of users.
pub(crate) fn user_list() -> Value {
    let count = |about: &str| json!({"type": "integer", "minimum": 0, "description": about});
    let users = json!({"type": "array", "items": reference_to("User"), "maxItems": MAX_PAGE,
                       "description": "Users of this page."});
    let members = json!({
        "schemas": urns(),
        "totalResults": count("Number of users of the whole list."),
        "itemsPerPage": count("Number of users of this page."),
        "startIndex": count("Position of the first user, from 1."),
        "nextCursor": text("Cursor of the next page; absent on the last page."),
        "Resources": users,
    });
    open_object(members, &["schemas", "totalResults", "Resources"])
}

/// Returns the schema of a document about the service.
pub(crate) fn discovery() -> Value {
    open_object(json!({"schemas": urns()}), &["schemas"])
}

/// Returns the schema of an error (RFC 7644 §3.12).
pub(crate) fn error() -> Value {
    let members = json!({
        "schemas": urns(),
        "status": text("HTTP status as text."),
        "scimType": text("Kind of a 400 or 409."),
        "detail": text("Problem, then its correction."),
    });
    open_object(members, &["schemas", "status", "detail"])
}
