//! Commits with many events queue a bounded number of deliveries, however many subscriptions want them.

use bytes::Bytes;
use candor_domain::id::ConnectorId;
use candor_domain::objective::Family;
use candor_service::runtime::objective_autostart;
use candor_service::usecases::employees::csv::upsert;
use candor_service::usecases::{connectors, objectives, webhooks};
use candor_store_testkit::FaultyCall;

use crate::support::{TestServices, body, json, member, params};

/// Number of subscriptions to all events, so that five events reach the limit on deliveries per commit.
const SUBSCRIPTIONS: usize = 100;

async fn subscribe(world: &TestServices) {
    for _ in 0..SUBSCRIPTIONS {
        let text = r#"{"url":"https://hooks.example.com/in","event_types":["*"]}"#;
        webhooks::create(&world.admin(), body(text)).await.unwrap();
    }
}

async fn upload(world: &TestServices, query: &[(&str, &str)], name: &str, people: usize) -> serde_json::Value {
    let rows: String = (0..people).map(|number| format!("{name}{number}@example.com,Ada,Example\n")).collect();
    let file = Bytes::from(format!("email,first_name,last_name\n{rows}"));
    json(&upsert(world.admin(), params(query), file).await.unwrap())
}

#[tokio::test]
async fn upload_commits_fewer_rows_with_many_subscribers() {
    let world = TestServices::new().await;
    let commits = async |name: &str| {
        let calls_before = world.store.calls(FaultyCall::Commit);
        assert_eq!(upload(&world, &[], name, 300).await["data"]["created"], 300);
        world.store.calls(FaultyCall::Commit) - calls_before
    };
    assert_eq!(commits("a").await, 2);
    subscribe(&world).await;
    assert_eq!(commits("b").await, 60);
}

#[tokio::test]
async fn objective_starts_commit_fewer_rows_with_many_subscribers() {
    let world = TestServices::new().await;
    let owner = world.hire("ada", None).await;
    for subscribers in [false, true] {
        if subscribers {
            subscribe(&world).await;
        }
        for _ in 0..50 {
            let text = format!(
                r#"{{"owner_id":"{owner}","title":"Goal","status":"approved","period_start":"2026-03-01","period_end":"2026-03-31"}}"#
            );
            objectives::create(&world.admin(), Family::Employees, body(&text)).await.unwrap();
        }
        let calls_before = world.store.calls(FaultyCall::Commit);
        assert_eq!(objective_autostart::due_objectives(&world.services, || true).await.unwrap(), 50);
        assert_eq!(world.store.calls(FaultyCall::Commit) - calls_before, if subscribers { 10 } else { 2 });
    }
}

#[tokio::test]
async fn connector_release_commits_fewer_rows_with_subscribers() {
    let world = TestServices::new().await;
    subscribe(&world).await;
    let text = r#"{"type":"csv_feed","hris_source":"acme-hr"}"#;
    let creation = connectors::create(&world.admin(), body(text)).await.unwrap();
    let connector: ConnectorId = member(&creation, "id").parse().unwrap();
    for (number, named) in [false, true].into_iter().enumerate() {
        let id = connector.to_string();
        upload(&world, &[("connector_id", &id)], &format!("p{number}-"), 35).await;
        let people = world.everybody_managed(connector).await;
        let text = if named { serde_json::json!({ "employee_ids": people }) } else { serde_json::json!({}) };
        let calls_before = world.store.calls(FaultyCall::Commit);
        let release_reply = connectors::release(&world.admin(), connector, body(&text.to_string())).await;
        assert_eq!(json(&release_reply.unwrap())["released"], 35);
        assert_eq!(world.store.calls(FaultyCall::Commit) - calls_before, 8, "a commit releases five people");
        assert_eq!(world.everybody_managed(connector).await.len(), 0);
    }
}
