//! Bound keys: access restrictions beyond objectives (decision B5).

mod custom_fields;
mod effects;
mod keys;
mod people;
mod relations;
mod relations_tables;
mod responses;
mod walk;
mod writes;

use candor_domain::access::AccessLevel;
use serde_json::{Value, json};

use crate::objectives::{key_for, person};
use crate::support::{TestApi, TestResponse};

/// Returns the expected details of a refusal that a key with admin level would not get.
fn needs_admin() -> Value {
    json!([{"required_access_level": "admin"}])
}

fn assert_denied(answered: &TestResponse, what: &str) {
    assert_eq!(answered.refusal(), (403, "permission_denied".to_owned()), "{what}");
    assert_eq!(answered.json()["error"]["details"], needs_admin(), "{what}");
}

/// Asserts a refusal that does not depend on the access level of the key.
fn assert_refused(answered: &TestResponse, what: &str) {
    assert_eq!(answered.refusal(), (403, "permission_denied".to_owned()), "{what}: {}", answered.text());
    assert!(answered.json()["error"].get("details").is_none(), "{what}: {}", answered.text());
}

/// Test people: the reporting line top → joe → report, and a team of two outside of it.
struct BoundPeople {
    top: String,
    joe: String,
    report: String,
    other: String,
    member: String,
    /// A key bound to Joe.
    key: String,
}

impl BoundPeople {
    async fn gather(world: &TestApi) -> Self {
        let top = person(world, "top", "manager", None).await;
        let joe = person(world, "joe", "employee", Some(&top)).await;
        let report = person(world, "report", "employee", Some(&joe)).await;
        let other = person(world, "other", "employee", None).await;
        let member = person(world, "member", "employee", Some(&other)).await;
        let key = key_for(world, &joe, AccessLevel::Standard).await;
        Self { top, joe, report, other, member, key }
    }
}
