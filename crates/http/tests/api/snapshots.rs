//! Snapshots of complete answers. Clock and ids are deterministic, so no value is masked.

use std::fmt::Write;

use candor_domain::json::Value;
use serde_json::json;

use crate::support::{TestApi, TestResponse};

const SHOWN: [&str; 15] = [
    "allow",
    "cache-control",
    "content-type",
    "etag",
    "idempotent-replayed",
    "location",
    "retry-after",
    "vary",
    "www-authenticate",
    "x-content-type-options",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-request-id",
    "content-encoding",
];

/// Renders status and body of an answer, and the headers that [`SHOWN`] lists.
pub(crate) fn shown(answered: &TestResponse) -> String {
    let mut text = format!("{}\n", answered.status);
    for name in SHOWN {
        for value in answered.headers.get_all(name) {
            let _ = writeln!(text, "{name}: {}", value.to_str().unwrap());
        }
    }
    if answered.body.is_empty() {
        return text;
    }
    // The domain's JSON type keeps the order of members.
    let body: Value = serde_json::from_slice(&answered.body).unwrap();
    let _ = write!(text, "\n{}\n", serde_json::to_string_pretty(&body).unwrap());
    text
}

#[tokio::test]
async fn observation_lifecycle_matches_snapshots() {
    let world = TestApi::new().await;
    let employee = world.employee("ada@example.com").await;
    let body = json!({
        "employee_id": employee, "type": "opportunity", "observation": "Interrupts.\nOften.", "impact": "Fewer ideas",
        "observation_date": "2026-02-28",
    });
    let creation = world.ask("POST", "/v1/observations").header("idempotency-key", "k").json(&body).send().await;
    insta::assert_snapshot!("observation_created", shown(&creation));
    let replay = world.ask("POST", "/v1/observations").header("idempotency-key", "k").json(&body).send().await;
    insta::assert_snapshot!("observation_replayed", shown(&replay));
    let path = format!("/v1/observations/{}", creation.json()["id"].as_str().unwrap());
    world.clock.advance_seconds(1);
    insta::assert_snapshot!("observation_updated", shown(&world.patch(&path, json!({"impact": null})).await));
    insta::assert_snapshot!(
        "observation_archived",
        shown(&world.post(&format!("{path}/archive"), json!({})).await)
    );
    insta::assert_snapshot!(
        "observation_archived_twice",
        shown(&world.post(&format!("{path}/archive"), json!({})).await)
    );
    insta::assert_snapshot!(
        "observations",
        shown(&world.get("/v1/observations?filter[archived]=all&expand=employee").await)
    );
    insta::assert_snapshot!("audit_log", shown(&world.get("/v1/audit-log?limit=2").await));
    insta::assert_snapshot!("events", shown(&world.get("/v1/events?limit=2").await));
}

#[tokio::test]
async fn mailed_invitation_shows_mail_status_and_no_link() {
    let world = TestApi::mailing().await;
    let body =
        json!({"email": "grace@example.com", "first_name": "Grace", "last_name": "Sample", "send_invite": true});
    let path = format!("/v1/employees/{}", world.made("/v1/employees", body).await);
    insta::assert_snapshot!("invitation_mailed", shown(&world.get(&format!("{path}/invitation")).await));
    let second_invite = world.post(&format!("{path}/invite"), json!({})).await;
    assert_eq!(second_invite.header("retry-after"), Some("60"));
    insta::assert_snapshot!("invitation_mailed_too_soon", shown(&second_invite));
    world.clock.advance_seconds(60);
    insta::assert_snapshot!(
        "invitation_mailed_again",
        shown(&world.post(&format!("{path}/invite"), json!({})).await)
    );
}

#[tokio::test]
async fn employee_lifecycle_matches_snapshots() {
    let world = TestApi::new().await;
    let department = world.made("/v1/departments", json!({"name": "Care"})).await;
    let body = json!({
        "email": "Grace@Example.com", "first_name": "Grace", "last_name": "Sample", "role": "manager",
        "department_id": department, "custom_fields": {"grade": 7, "remote": true, "since": "2020-01-01"},
        "send_invite": true,
    });
    let creation = world.post("/v1/employees", body.clone()).await;
    insta::assert_snapshot!("employee_created", shown(&creation));
    insta::assert_snapshot!("employee_twice", shown(&world.post("/v1/employees", body).await));
    let path = format!("/v1/employees/{}", creation.json()["id"].as_str().unwrap());
    insta::assert_snapshot!("invitation", shown(&world.get(&format!("{path}/invitation")).await));
    let invitation = world.post(&format!("{path}/invite"), json!({})).await;
    insta::assert_snapshot!("invitation_sent", shown(&invitation));
    let link = invitation.json()["accept_url"].as_str().unwrap().to_owned();
    let token = link.split_once("token=").unwrap().1;
    let accept = || world.bare("POST", "/v1/invitations/accept").json(&json!({"token": token})).send();
    insta::assert_snapshot!("invitation_accepted", shown(&accept().await));
    insta::assert_snapshot!("invitation_accepted_twice", shown(&accept().await));
    world.clock.advance_seconds(1);
    insta::assert_snapshot!(
        "employee_deactivated",
        shown(&world.post(&format!("{path}/deactivate"), json!({})).await)
    );
    let body = json!({"department_id": null, "custom_fields": {"grade": null}});
    let rehire_response = world.post(&format!("{path}/rehire"), body).await;
    insta::assert_snapshot!("employee_rehired", shown(&rehire_response));
    let cycle = json!({"manager_id": creation.json()["id"]});
    insta::assert_snapshot!("employee_own_manager", shown(&world.patch(&path, cycle).await));
}

#[tokio::test]
async fn organization_and_keys_match_snapshots() {
    let world = TestApi::new().await;
    insta::assert_snapshot!("me", shown(&world.get("/v1/me").await));
    let settings = json!({"objective_review": "required"});
    insta::assert_snapshot!("organization_updated", shown(&world.patch("/v1/organization", settings).await));
    let body = json!({"name": "HR sync", "scopes": ["employees:read"], "expires_at": "2027-01-01T00:00:00+01:00"});
    let creation = world.post("/v1/api-keys", body).await;
    insta::assert_snapshot!("api_key_created", shown(&creation));
    let path = format!("/v1/api-keys/{}", creation.json()["id"].as_str().unwrap());
    insta::assert_snapshot!("api_key_rotated", shown(&world.post(&format!("{path}/rotate"), json!({})).await));
    insta::assert_snapshot!("api_key_revoked", shown(&world.post(&format!("{path}/revoke"), json!({})).await));
    let body = json!({"type": "csv_feed", "hris_source": "acme", "mapped_custom_field_keys": ["grade"]});
    let connector = world.post("/v1/connectors", body).await;
    insta::assert_snapshot!("connector_created", shown(&connector));
    let path = format!("/v1/connectors/{}/release", connector.json()["id"].as_str().unwrap());
    insta::assert_snapshot!("connector_released", shown(&world.post(&path, json!({})).await));
    let body = json!({"name": "Calm", "category": "Character", "tone": "positive"});
    insta::assert_snapshot!("attribute_created", shown(&world.post("/v1/attributes", body).await));
}

#[tokio::test]
async fn refusals_match_snapshots() {
    let world = TestApi::new().await;
    insta::assert_snapshot!("unauthenticated", shown(&world.bare("GET", "/v1/me").send().await));
    insta::assert_snapshot!("unknown_route", shown(&world.get("/v1/nothing").await));
    insta::assert_snapshot!("wrong_method", shown(&world.ask("PUT", "/v1/observations").send().await));
    insta::assert_snapshot!("options", shown(&world.bare("OPTIONS", "/v1/observations").send().await));
    let key = world.scoped(&[]).await;
    insta::assert_snapshot!("missing_scope", shown(&world.bare("GET", "/v1/events").key(&key).send().await));
    let body = json!({"type": "praise", "observation": "", "attribute_ids": null, "id": "x", "extra": 1});
    insta::assert_snapshot!("invalid_fields", shown(&world.post("/v1/observations", body).await));
    let body =
        json!({"employee_id": "emp_1", "type": "strength", "observation": "x", "attribute_ids": ["attr_1"]});
    insta::assert_snapshot!("unresolved_references", shown(&world.post("/v1/observations", body).await));
    let malformed_request =
        world.ask("POST", "/v1/observations").header("content-type", "application/json").body("{");
    insta::assert_snapshot!("malformed_json", shown(&malformed_request.send().await));
    insta::assert_snapshot!("invalid_query", shown(&world.get("/v1/employees?limit=0&sort=x&filter[a]=1").await));
    let id = world.observation("ada@example.com").await;
    let stale = world.ask("PATCH", &format!("/v1/observations/{id}")).header("if-match", "\"old\"");
    insta::assert_snapshot!("stale", shown(&stale.json(&json!({"impact": "x"})).send().await));
}
