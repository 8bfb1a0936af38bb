//! A key with less access than another key or a provider does not lower it first and take it over then (decisions B7, B9).

use candor_port_clock::Clock;
use serde_json::{Value, json};

use crate::objectives::person;
use crate::resources::provider_body;
use crate::stores::every_store;
use crate::support::TestApi;

/// Requests that would lower a key or a provider to the access of the sender, and those that would take it over then.
fn takeovers(key: &str, provider: &str, person: &str) -> Vec<(&'static str, String, Value)> {
    let (key, provider) = (format!("/v1/api-keys/{key}"), format!("/v1/identity-providers/{provider}"));
    let settings = ["settings:read", "settings:write"];
    let end = "2040-01-01T00:00:00.000Z";
    vec![
        ("PATCH", key.clone(), json!({"scopes": settings})),
        ("PATCH", key.clone(), json!({"expires_at": end})),
        ("PATCH", key.clone(), json!({"allowed_networks": ["192.0.2.0/24"]})),
        ("PATCH", key.clone(), json!({"scopes": settings, "expires_at": end, "name": "Lower"})),
        ("POST", format!("{key}/rotate"), json!({"overlap_seconds": 600})),
        ("PATCH", provider.clone(), json!({"scopes": settings, "admin_sessions": false})),
        ("PATCH", provider.clone(), json!({"scopes": settings, "admin_sessions": false, "subject_claim": "nick"})),
        ("PATCH", provider.clone(), json!({"session_lifetime": 300})),
        ("PATCH", provider.clone(), json!({"status": "disabled", "scopes_from_token": true})),
        ("DELETE", provider.clone(), json!({})),
        ("POST", format!("{provider}/links"), json!({"employee_id": person, "subject": "stranger"})),
    ]
}

async fn send(world: &TestApi, key: &str, (method, path, body): (&str, &str, &Value)) -> (u16, String) {
    let request = world.bare(method, path).key(key);
    let response = if method == "DELETE" { request.send().await } else { request.json(body).send().await };
    (response.status, response.text())
}

#[tokio::test]
async fn key_with_less_access_lowers_no_key_and_no_provider() {
    for shared in every_store().await {
        let world = &shared.world;
        let create = async |body: Value| {
            let key = world.post("/v1/api-keys", body).await.json();
            let member = |name: &str| key[name].as_str().unwrap().to_owned();
            (member("id"), member("key"))
        };
        let mut body = provider_body();
        body["admin_sessions"] = json!(true);
        let provider = world.made("/v1/identity-providers", body).await;
        let person = person(world, "ada", "org_admin", None).await;
        let full = json!({"name": "Full", "scopes": ["*"], "access_level": "admin"});
        let (full_id, full_key) = create(full.clone()).await;
        let weak = json!({"name": "Weak", "scopes": ["settings:read", "settings:write"], "access_level": "admin"});
        let (weak_id, weak_key) = create(weak).await;
        let mut short = full;
        short["expires_at"] = json!(world.clock.now().plus_seconds(3_600));
        let (_, short_key) = create(short).await;
        for secret in [&weak_key, &short_key] {
            for (method, path, body) in takeovers(&full_id, &provider, &person) {
                let (status, text) = send(world, secret, (method, &path, &body)).await;
                assert_eq!(status, 403, "{} {method} {path} {body}: {text}", shared.name);
            }
        }
        let own = format!("/v1/api-keys/{weak_id}");
        let (status, text) = send(world, &weak_key, ("PATCH", &own, &json!({"scopes": ["settings:write"]}))).await;
        assert_eq!(status, 200, "{}: the own key, {text}", shared.name);
        let (provider, full) = (format!("/v1/identity-providers/{provider}"), format!("/v1/api-keys/{full_id}"));
        for (method, path, body) in [
            ("PATCH", provider.as_str(), json!({"name": "Entra"})),
            ("PATCH", &provider, json!({"status": "disabled"})),
            ("PATCH", &full, json!({"name": "Fuller"})),
            ("POST", &format!("{full}/revoke"), json!({})),
        ] {
            let (status, text) = send(world, &weak_key, (method, path, &body)).await;
            assert_eq!(status, 200, "{} {method} {path} {body}: {text}", shared.name);
        }
        let (status, _) = send(world, &full_key, ("GET", "/v1/me", &json!({}))).await;
        assert_eq!(status, 401, "{}: it is revoked", shared.name);
    }
}
