//! Events of the catalogue that the API fires (§6.2).

use std::collections::BTreeSet;

use candor_domain::event::EventType;
use candor_domain::fields::StringEnum;
use candor_port_storage::Storage;
use candor_service::runtime::delivery::{Engine, Settings};
use candor_service::runtime::{erasure, operational_events, retention};
use candor_store_testkit::Faulty;
use serde_json::{Value, json};

use super::{path, subscribe, text};
use crate::connectors;
use crate::resources::provider_body;
use crate::stores::every_faulty_store;
use crate::support::TestApi;

/// Performs every action that fires an event, and returns the types of the fired events.
async fn fire_main_events(world: &TestApi) -> BTreeSet<String> {
    let perform = async |method: &str, path: &str, body: Value| {
        world.clock.advance_millis(1);
        let response = world.ask(method, path).json(&body).send().await;
        assert!(response.status < 300, "{path}: {}", response.text());
        response.json()
    };
    let person = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Example"});
    let employee = text(&perform("POST", "/v1/employees", person).await, "id");
    let it = format!("/v1/employees/{employee}");
    perform("PATCH", &it, json!({"first_name": "Augusta"})).await;
    for action in ["deactivate", "reactivate", "deactivate", "rehire"] {
        perform("POST", &format!("{it}/{action}"), json!({})).await;
    }
    let body = json!({"employee_id": employee, "type": "strength", "observation": "Listens."});
    let it = format!("/v1/observations/{}", text(&perform("POST", "/v1/observations", body).await, "id"));
    perform("PATCH", &it, json!({"impact": "Trust"})).await;
    for action in ["archive", "restore"] {
        perform("POST", &format!("{it}/{action}"), json!({})).await;
    }
    let body =
        json!({"owner_id": employee, "title": "Goal", "period_start": "2026-04-01", "period_end": "2026-04-30"});
    let it =
        format!("/v1/employee-objectives/{}", text(&perform("POST", "/v1/employee-objectives", body).await, "id"));
    perform("PATCH", &it, json!({"title": "Another"})).await;
    for action in ["submit", "approve"] {
        perform("POST", &format!("{it}/{action}"), json!({})).await;
    }
    perform("POST", &format!("{it}/check-ins"), json!({"progress": 40})).await;
    perform("POST", &format!("{it}/archive"), json!({})).await;
    let other =
        perform("POST", "/v1/employees", json!({"email": "b@example.com", "first_name": "B", "last_name": "C"}))
            .await;
    let body = json!({"title": "Goal", "participant_ids": [employee, text(&other, "id")]});
    let it = format!("/v1/conversations/{}", text(&perform("POST", "/v1/conversations", body).await, "id"));
    perform("POST", &format!("{it}/messages"), json!({"author_id": employee, "body": "Shall we?"})).await;
    perform("PATCH", &it, json!({"title": "Another"})).await;
    perform("POST", &format!("{it}/archive"), json!({})).await;
    let body = json!({"employee_id": employee, "title": "Goal", "reviewer_ids": [employee]});
    let it = format!("/v1/assignments/{}", text(&perform("POST", "/v1/assignments", body).await, "id"));
    let one = json!({"type": "strength", "observation": "Listens."});
    perform("POST", &format!("{it}/submissions"), json!({"reviewer_id": employee, "observations": [one]})).await;
    let body = json!({"employee_id": employee, "title": "Two", "reviewer_ids": [employee, text(&other, "id")]});
    let it = format!("/v1/assignments/{}", text(&perform("POST", "/v1/assignments", body).await, "id"));
    perform("POST", &format!("{it}/submissions"), json!({"reviewer_id": employee, "observations": [one]})).await;
    perform("POST", &format!("{it}/cancel"), json!({})).await;
    let body = json!({"employee_id": employee, "title": "First half", "body": "Listens."});
    let it = format!("/v1/summaries/{}", text(&perform("POST", "/v1/summaries", body).await, "id"));
    perform("PATCH", &it, json!({"body": "Listens well."})).await;
    for action in ["submit", "approve", "share", "feedback", "archive"] {
        perform("POST", &format!("{it}/{action}"), json!({})).await;
    }
    change_catalog(world).await;
    perform("PATCH", "/v1/organization", json!({"name": "Another"})).await;
    record_upload(world).await;
    add_and_delete_identity_provider(world).await;
    invite_twice(world).await;
    let events = world.get("/v1/events?limit=100").await.json();
    events["data"].as_array().unwrap().iter().map(|item| text(item, "event")).collect()
}

/// Creates, changes, archives and restores a department and an attribute.
async fn change_catalog(world: &TestApi) {
    let perform = async |method: &str, path: &str, body: Value| {
        world.clock.advance_millis(1);
        let response = world.ask(method, path).json(&body).send().await;
        assert!(response.status < 300, "{method} {path}: {}", response.text());
        response.json()
    };
    for (list, body, change) in [
        ("departments", json!({"name": "Care"}), json!({"name": "Sales"})),
        ("attributes", json!({"name": "Calm", "category": "Character"}), json!({"category": "Other"})),
    ] {
        let it = format!("/v1/{list}/{}", text(&perform("POST", &format!("/v1/{list}"), body).await, "id"));
        perform("PATCH", &it, change).await;
        for action in ["archive", "restore"] {
            perform("POST", &format!("{it}/{action}"), json!({})).await;
        }
    }
}

/// Connects an identity provider, renames it and deletes it.
async fn add_and_delete_identity_provider(world: &TestApi) {
    let path = format!("/v1/identity-providers/{}", world.made("/v1/identity-providers", provider_body()).await);
    assert_eq!(world.patch(&path, json!({"name": "Entra"})).await.status, 200);
    assert_eq!(world.ask("DELETE", &path).send().await.status, 204);
}

/// Creates a connector and uploads an empty file for it.
async fn record_upload(world: &TestApi) {
    let body = json!({"type": "csv_feed", "hris_source": "acme"});
    let connector = world.made("/v1/connectors", body).await;
    let upload = world.ask("POST", &format!("/v1/employees/csv?connector_id={connector}"));
    let response = upload.header("content-type", "text/csv").body("email\n").send().await;
    assert_eq!(response.status, 200, "{}", response.text());
}

/// Invites a person twice and accepts the second invitation.
async fn invite_twice(world: &TestApi) {
    let person = |email| json!({"email": email, "first_name": "Eve", "last_name": "Example", "send_invite": true});
    let id = world.made("/v1/employees", person("eve@example.com")).await;
    let invitation = world.post(&format!("/v1/employees/{id}/invite"), json!({})).await.json();
    let token = text(&invitation, "accept_url").split_once("token=").unwrap().1.to_owned();
    let acceptance = world.bare("POST", "/v1/invitations/accept").json(&json!({"token": token})).send().await;
    assert_eq!(acceptance.status, 200, "{}", acceptance.text());
}

/// Lets a receiver end its subscription by answering 410. Returns the type of the newest event.
async fn answer_with_gone(world: &TestApi) -> Option<String> {
    let body = json!({"url": "https://gone.example/", "event_types": ["employee.created"]});
    let webhook = world.made("/v1/webhooks", body).await;
    world.employee("grace@example.com").await;
    // Entries of one millisecond have no order in the audit log.
    world.clock.advance_millis(1);
    let engine = Engine::new(&world.services, Settings::default());
    engine.run_once().await.unwrap();
    let webhook_json = world.get(&format!("/v1/webhooks/{webhook}")).await.json();
    assert_eq!(webhook_json["active"], json!(false), "{webhook_json}");
    let audit_page = world.get("/v1/audit-log?limit=1").await.json();
    assert_eq!(audit_page["data"][0]["action"], "webhook.disable");
    let events = world.get("/v1/events?limit=100").await.json();
    let newest = events["data"].as_array().unwrap().last()?.clone();
    let data = &newest["data"];
    assert_eq!((&data["id"], &data["url"]), (&webhook_json["id"], &json!("https://gone.example")));
    Some(text(&newest, "event"))
}

/// Lets a delivery fail five times and an API key approach its end. Returns the types of the events.
async fn fire_operational_events(world: &TestApi) -> Vec<String> {
    subscribe(world, &["employee.created"]).await;
    world.employee("hedy@example.com").await;
    let end = world.services.clock.now().plus_seconds(8 * 86_400).to_string();
    let key = json!({"name": "HR sync", "scopes": ["*"], "expires_at": end});
    assert_eq!(world.post("/v1/api-keys", key).await.status, 201);
    for delay in [0, 30, 120, 600, 3_600] {
        world.clock.advance_seconds(delay);
        world.attempt_all(500).await;
    }
    operational_events::failing_webhooks(&world.services, || true).await.unwrap();
    world.clock.advance_seconds(86_400);
    operational_events::expiring_keys(&world.services, || true).await.unwrap();
    let filter = "filter[event]=webhook.failing&filter[event]=api_key.expiring";
    let events = world.get(&format!("/v1/events?limit=100&{filter}")).await.json();
    events["data"].as_array().unwrap().iter().map(|item| text(item, "event")).collect()
}

#[tokio::test]
async fn event_catalog_marks_exactly_the_fired_types_as_live() {
    let (world, faulty, _database) = every_faulty_store().await.remove(0);
    let mut event_names = fire_main_events(&world).await;
    let webhook = subscribe(&world, &["test.ping"]).await;
    let test = world.post(&format!("{}/test", path(&webhook)), json!({})).await;
    event_names.insert(world.attempt_all(200).await[0].event_type.word().to_owned());
    assert_eq!(test.status, 200);
    event_names.extend(answer_with_gone(&world).await);
    event_names.extend(fire_operational_events(&world).await);
    event_names.extend(connectors::refuse_and_pause(&world).await);
    event_names.extend(hold_and_erase_person(&world).await);
    event_names.extend(run_retention(&world, &faulty).await);
    // The mailer fires this event, and this test runs no mailer. The tests of the service cover it.
    event_names.insert(EventType::InvitationUpdated.word().to_owned());
    assert_eq!(event_names, EventType::words().into_iter().map(str::to_owned).collect::<BTreeSet<_>>());
}

/// Archives an observation, runs the retention, and returns the event types that this fires.
async fn run_retention(world: &TestApi, faulty: &Faulty<dyn Storage>) -> BTreeSet<String> {
    let observation = world.observation("kept@example.com").await;
    world.post(&format!("/v1/observations/{observation}/archive"), json!({})).await;
    world.patch("/v1/organization", json!({"retention": {"archived_observations": "P30D"}})).await;
    world.clock.advance_seconds(40 * 86_400);
    for _ in 0..3 {
        // The retention uses the time of the store.
        faulty.set_time(world.services.clock.now());
        retention::run_due(&world.services, || true).await.unwrap();
        world.clock.advance_seconds(20);
    }
    let path = "/v1/events?limit=100&filter[event]=retention.removed&filter[event]=retention.completed";
    let page = world.get(path).await.json();
    page["data"].as_array().unwrap().iter().map(|event| event["event"].as_str().unwrap().to_owned()).collect()
}

/// Sets and ends a legal hold, erases the person, and returns the event types that this fires.
async fn hold_and_erase_person(world: &TestApi) -> BTreeSet<String> {
    let id = world.employee("held@example.com").await;
    let path = format!("/v1/employees/{id}");
    let hold = format!("{path}/legal-hold");
    world.ask("PUT", &hold).json(&json!({"reason": "Lawsuit"})).send().await;
    world.ask("DELETE", &hold).send().await;
    world.post(&format!("{path}/deactivate"), json!({})).await;
    world.post(&format!("{path}/erasure"), json!({})).await;
    for _ in 0..3 {
        erasure::run_due(&world.services, || true).await.unwrap();
        world.clock.advance_seconds(20);
    }
    let page = world
        .get(
            "/v1/events?limit=100&filter[event]=employee.hold_changed&filter[event]=employee.erased\
                        &filter[event]=erasure.completed",
        )
        .await
        .json();
    let events = page["data"].as_array().unwrap().iter();
    events.map(|event| event["event"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn event_types_are_subscribable_and_documented() {
    let world = TestApi::new().await;
    for word in EventType::words() {
        subscribe(&world, &[word]).await;
    }
    let document = world.bare("GET", "/v1/openapi.json").send().await.json();
    assert_eq!(document["components"]["schemas"]["EventType"]["x-live"], json!(EventType::words()));
}
