//! The brake under concurrency, idempotency keys, test keys, the request log, traces and access requests.

use std::collections::BTreeMap;

use candor_domain::access::{AccessLevel, AllowedNetworks, Environment, Permission, Permissions};
use candor_service::usecases::operator::{self, NewKeyRequest};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tracing_subscriber::fmt::format::FmtSpan;

use super::{ENTERPRISE, Provider, user};
use crate::records::Lines;
use crate::stores::every_store;
use crate::support::TestApi;

#[tokio::test]
async fn concurrent_deactivations_never_exceed_the_brake() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::with_brake(world, json!({"percent": 50, "at_least": 5})).await;
        let mut ids = Vec::new();
        for number in 0..24 {
            ids.push(provider.made(&user(&format!("p{number}"))).await);
        }
        // The base of the brake is then the number of people linked an hour ago. Removals do not lower it.
        world.clock.advance_millis(7_200_000);
        let changes = ids.iter().enumerate().map(async |(number, id)| {
            // Removals count as deactivations.
            if number.is_multiple_of(3) {
                return provider.send("DELETE", &format!("/Users/{id}"), None).await.status;
            }
            provider.patch(id, "active", json!(false)).await.status
        });
        let mut statuses = BTreeMap::<u16, usize>::new();
        for status in join_all(changes).await {
            *statuses.entry(if status == 204 { 200 } else { status }).or_default() += 1;
        }
        assert_eq!(statuses, BTreeMap::from([(200, 12), (503, 12)]), "on {}", shared.name);
        let former_employees = world.get("/v1/employees?filter[status]=deactivated&limit=100").await.json();
        assert_eq!(former_employees["data"].as_array().unwrap().len(), 12);
    }
}

#[tokio::test]
async fn brake_of_test_data_refuses_without_a_pause() {
    for shared in every_store().await {
        let live = Provider::with_brake(&shared.world, json!({"percent": 50, "at_least": 2})).await;
        let test = live.with_test_key().await;
        let mut ids = Vec::new();
        for number in 0..3 {
            ids.push(test.made(&user(&format!("p{number}"))).await);
        }
        assert_eq!(test.patch(&ids[0], "active", json!(false)).await.status, 200);
        for _ in 0..2 {
            assert_eq!(test.patch(&ids[1], "active", json!(false)).await.status, 503);
        }
        assert_eq!(test.patch(&ids[1], "title", json!("X")).await.status, 200, "on {}", shared.name);
        let connector = shared.world.get(&format!("/v1/connectors/{}", live.connector)).await.json();
        assert_eq!(
            (&connector["status"], &connector["people"]),
            (&json!("active"), &json!(0)),
            "status and figures are those of the live data"
        );
    }
}

#[tokio::test]
async fn test_key_provisions_into_test_data_only() {
    for shared in every_store().await {
        let live = Provider::new(&shared.world).await;
        let test = live.with_test_key().await;
        let id = test.made(&user("ada")).await;
        assert_eq!(live.get(&format!("/Users/{id}")).await.status, 404);
        assert_ne!(live.made(&user("ada")).await, id, "on {}", shared.name);
        let total = async |provider: &Provider<'_>| provider.get("/Users").await.json()["totalResults"].clone();
        assert_eq!((total(&live).await, total(&test).await), (json!(1), json!(1)));
        assert_eq!(test.patch(&id, "active", json!(false)).await.status, 200);
        let list = live.get("/Users?filter=userName%20eq%20%22ada@example.com%22").await.json();
        assert_eq!(list["Resources"][0]["active"], true);
    }
}

#[tokio::test]
async fn idempotency_key_replays_a_creation() {
    for shared in every_store().await {
        let provider = Provider::new(&shared.world).await;
        let post = async |body: &Value| {
            let request = shared.world.bare("POST", "/scim/v2/Users").key(&provider.key);
            request.header("idempotency-key", "once").json(body).send().await
        };
        let first = post(&user("ada")).await;
        assert_eq!((first.status, first.header("idempotent-replayed")), (201, None));
        let second_response = post(&user("ada")).await;
        assert_eq!((second_response.status, second_response.header("idempotent-replayed")), (201, Some("true")));
        assert_eq!(
            (second_response.json(), second_response.header("location")),
            (first.json(), first.header("location"))
        );
        let other = post(&user("eve")).await;
        assert!((400..500).contains(&other.status), "{}", other.text());
        assert_eq!(other.json()["status"], other.status.to_string());
        assert_eq!(provider.get("/Users").await.json()["totalResults"], 1, "on {}", shared.name);
    }
}

#[tokio::test]
async fn request_log_has_refused_requests_too() {
    let world = TestApi::new().await;
    let provider = Provider::new(&world).await;
    let order = NewKeyRequest {
        organization: world.organization,
        name: "Slow".to_owned(),
        scopes: Permissions::NONE.with(Permission::Scim),
        level: AccessLevel::Standard,
        environment: Environment::Live,
        employee: None,
        expires_at: None,
        reads_per_minute: None,
        writes_per_minute: None,
        connector: Some(provider.connector.clone()),
        scim_per_minute: Some(1),
        allowed_networks: AllowedNetworks::EVERYWHERE,
    };
    let key = operator::create_key(&world.services, order).await.unwrap().1.reveal().to_owned();
    let slow = Provider { world: &world, connector: provider.connector.clone(), key };
    let statuses = [slow.get("/Users").await.status, slow.get("/Users").await.status];
    assert_eq!(statuses, [200, 429]);
    world.services.scim_log.flush(&*world.services.store).await.unwrap();
    let log = world.get(&format!("/v1/connectors/{}/requests", provider.connector)).await.json();
    let logged_statuses: Vec<_> =
        log["data"].as_array().unwrap().iter().map(|entry| entry["status"].clone()).collect();
    assert_eq!(logged_statuses, [429, 200]);
}

#[tokio::test]
async fn unknown_method_is_logged_without_its_text() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        let method = "A".repeat(5_000);
        assert_eq!(provider.send(&method, "/Users", None).await.status, 405, "on {}", shared.name);
        world.services.scim_log.flush(&*world.services.store).await.unwrap();
        let log = world.get(&format!("/v1/connectors/{}/requests", provider.connector)).await.json();
        assert_eq!(log["data"][0]["method"], "other", "on {}", shared.name);
    }
}

#[tokio::test]
async fn request_has_a_span_with_its_use_case_below() {
    // The subscriber is global: with one for this thread only, the threads of the store would have none, and that
    // disables spans for all threads. The test reads the events of new spans, which are complete with the response. A
    // thread of the store may close its span later.
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt().json().with_span_events(FmtSpan::NEW).with_writer(lines.clone());
    tracing::subscriber::set_global_default(subscriber.finish()).unwrap();
    let world = TestApi::new().await;
    let provider = Provider::new(&world).await;
    provider.made(&user("ada")).await;
    let text = lines.text();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let spans_above = |name: &str, member: &str, value: Value| -> Vec<Value> {
        let is_wanted = |event: &&Value| event["span"]["name"] == name && event["span"][member] == value;
        let span_event = events.iter().rfind(is_wanted).unwrap_or_else(|| panic!("{name}: {text}"));
        span_event["spans"].as_array().unwrap().iter().map(|span| span["name"].clone()).collect()
    };
    let nothing: Vec<Value> = vec![];
    assert_eq!(spans_above("request", "http.route", json!("/scim/v2/Users")), nothing);
    assert_eq!(spans_above("use_case", "otel.name", json!("scim.create_user")), ["request"]);
    // The creation writes two rows: the link and the person.
    assert_eq!(spans_above("commit", "rows", json!(2)), ["request", "use_case"]);
}

/// The personal data of a person of a provider include the account and its issues (decision H2).
#[tokio::test]
async fn personal_data_has_the_account_and_its_issues() {
    for shared in every_store().await {
        let world = &shared.world;
        let provider = Provider::new(world).await;
        let mut body = user("ada");
        body[ENTERPRISE] = json!({"manager": {"value": "x-boss"}});
        body["nickName"] = json!("Countess");
        let id = provider.made(&body).await;
        provider.made(&user("eve")).await;
        let lines = world.get(&format!("/v1/employees/{id}/personal-data")).await.lines();
        let of_type = |kind: &str| lines.iter().filter(|line| line["type"] == kind).cloned().collect::<Vec<_>>();
        let from = json!({"type": "connector", "id": provider.connector});
        let [account] = &of_type("scim_account")[..] else { panic!("on {}: {lines:?}", shared.name) };
        let account_members =
            ["connector_id", "user_name", "external_id"].map(|member| account["data"][member].clone());
        assert_eq!(account_members, [json!(provider.connector), json!("ada@example.com"), json!("x-ada")]);
        assert_eq!((&account["data"]["attributes"]["nickName"], &account["from"]), (&json!("Countess"), &from));
        let issues = world.get(&format!("/v1/connectors/{}/sync-issues", provider.connector)).await.json();
        let [issue] = &of_type("sync_issue")[..] else { panic!("on {}: {lines:?}", shared.name) };
        assert_eq!(issues["data"], json!([issue["data"]]), "on {}", shared.name);
        assert_eq!((&issue["data"]["kind"], &issue["from"]), (&json!("manager_pending"), &from));
    }
}
