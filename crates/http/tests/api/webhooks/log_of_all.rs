//! The delivery log over all subscriptions, and the statistics of one subscription (decision F9).

use candor_domain::access::Permission;
use candor_port_clock::Clock;
use candor_service::runtime::delivery::{Engine, Settings};
use serde_json::{Value, json};

use super::{path, subscribe, text};
use crate::stores::every_store;
use crate::support::TestApi;

async fn list(world: &TestApi, query: &str) -> Vec<Value> {
    let response = world.get(&format!("/v1/deliveries{query}")).await;
    assert_eq!(response.status, 200, "{query}: {}", response.text());
    response.json()["data"].as_array().unwrap().clone()
}

fn attempts(entries: &[Value]) -> Vec<String> {
    entries.iter().map(|entry| text(entry, "id")).collect()
}

#[tokio::test]
async fn log_of_all_shows_attempts_of_existing_subscriptions() {
    for shared in every_store().await {
        let (world, store) = (&shared.world, shared.name);
        assert_eq!(list(world, "").await, [json!(null); 0], "{store}");
        let (one, other) =
            (subscribe(world, &["employee.created"]).await, subscribe(world, &["employee.created"]).await);
        world.employee("ada@example.com").await;
        let delivery_ids: Vec<_> = world.attempt_all(503).await.iter().map(|entry| entry.id.to_string()).collect();
        world.clock.advance_seconds(30);
        let start = world.clock.now().to_string();
        let good: Vec<_> = world.attempt_all(204).await.iter().map(|entry| entry.id.to_string()).collect();
        assert_eq!((delivery_ids.len(), good.len()), (2, 2), "{store}");
        let all = list(world, "").await;
        let ascending_page = list(world, "?sort=attempted_at").await;
        assert_eq!(all.len(), 4, "{store}");
        assert_eq!(attempts(&ascending_page), attempts(&all).into_iter().rev().collect::<Vec<_>>(), "{store}");
        assert!(all[..2].iter().all(|entry| good.contains(&text(entry, "id"))), "{store}: {all:?}");
        let id = text(&one, "id");
        let of_one = list(world, &format!("?filter[subscription_id]={id}")).await;
        let log = world.get(&format!("{}/deliveries", path(&one))).await.json();
        assert_eq!(json!(of_one), log["data"], "{store}");
        assert_eq!(list(world, "?filter[status]=failed").await.len(), 2, "{store}");
        assert_eq!(
            attempts(&list(world, &format!("?filter[attempted_at][gte]={start}")).await).len(),
            2,
            "{store}"
        );
        let event = text(&all[0], "event_id");
        assert_eq!(list(world, &format!("?filter[event_id]={event}")).await.len(), 4, "{store}");
        let page = world.get("/v1/deliveries?limit=3").await.json();
        let next = text(&page, "next_cursor");
        assert_eq!(
            attempts(&list(world, &format!("?limit=3&cursor={next}")).await),
            attempts(&all)[3..],
            "{store}"
        );
        assert_eq!(world.ask("DELETE", &path(&other)).send().await.status, 204, "{store}");
        assert_eq!(list(world, "").await, of_one, "{store}: the log of a deleted subscription is deleted");
        let bad = world.get("/v1/deliveries?sort=created_at").await;
        assert_eq!(bad.status, 400, "{store}");
    }
}

#[tokio::test]
async fn log_hides_attempts_of_holds_from_other_keys() {
    for shared in every_store().await {
        let (world, store) = (&shared.world, &shared.name);
        let webhook = subscribe(world, &["employee.created", "employee.hold_changed"]).await;
        let employee = world.employee("ada@example.com").await;
        let hold = format!("/v1/employees/{employee}/legal-hold");
        world.ask("PUT", &hold).json(&json!({"reason": "Lawsuit"})).send().await;
        assert_eq!(world.attempt_all(204).await.len(), 2, "{store}");
        let shown_entries = list(world, "?filter[event_type]=employee.created").await;
        let hidden_entry = list(world, "?filter[event_type]=employee.hold_changed").await.remove(0);
        let key = world.scoped(&[Permission::WebhooksRead, Permission::WebhooksWrite]).await;
        let ask = async |method: &str, path: &str| world.bare(method, path).key(&key).send().await;
        for log in ["/v1/deliveries".to_owned(), format!("{}/deliveries", path(&webhook))] {
            let page = ask("GET", &format!("{log}?limit=1")).await.json();
            assert_eq!(
                (&page["data"], &page["has_more"]),
                (&json!(shown_entries), &json!(false)),
                "{store}: {log}"
            );
            let page = ask("GET", &format!("{log}?filter[event_type]=employee.hold_changed")).await.json();
            assert_eq!(page["data"], json!([]), "{store}: {log}");
        }
        let attempt = format!("{}/deliveries/{}", path(&webhook), text(&hidden_entry, "id"));
        assert_eq!(world.get(&attempt).await.status, 200, "{store}");
        assert_eq!(ask("GET", &attempt).await.status, 404, "{store}");
        assert_eq!(ask("POST", &format!("{attempt}/redeliver")).await.status, 404, "{store}");
        // Neither the statistics nor the subscription tell of further attempts.
        let stats = format!("{}/stats", path(&webhook));
        let shown_state = async || {
            world.clock.advance_millis(1);
            let read = async |path: &str| ask("GET", path).await.json();
            let mut stats = read(&stats).await;
            for name in ["since", "until", "by_hour"] {
                stats.as_object_mut().unwrap().remove(name);
            }
            let subscription = ask("GET", &path(&webhook)).await;
            (
                stats,
                subscription.header("etag").map(ToOwned::to_owned),
                subscription.json(),
                read("/v1/webhooks").await,
            )
        };
        let first_state = shown_state().await;
        assert_eq!((&first_state.0["attempts"], &first_state.0["queued"]), (&json!(1), &json!(0)), "{store}");
        for (method, status) in [("DELETE", 503), ("PUT", 204)] {
            world.clock.advance_seconds(1);
            let request = world.ask(method, &hold);
            let request = if method == "PUT" { request.json(&json!({"reason": "Lawsuit"})) } else { request };
            assert!([200, 204].contains(&request.send().await.status), "{store}: {method}");
            assert_eq!(shown_state().await, first_state, "{store}: queued");
            world.attempt_all(status).await;
            assert_eq!(shown_state().await, first_state, "{store}: attempted with {status}");
        }
        let all = world.get(&stats).await.json();
        assert!(all["attempts"].as_u64().unwrap() >= 4 && all["failures"] == json!(1), "{store}: {all}");
    }
}

#[tokio::test]
async fn delivery_names_the_request_that_caused_its_event() {
    for shared in every_store().await {
        let world = &shared.world;
        let webhook = subscribe(world, &["employee.created"]).await;
        let employee = world.employee("ada@example.com").await;
        let engine = Engine::new(&world.services, Settings::default());
        engine.run_once().await.unwrap();
        let [entry] = &list(world, "").await[..] else { panic!("{}: one attempt", shared.name) };
        let id = employee.clone();
        let entries = world.get(&format!("/v1/audit-log?filter[target_id]={id}")).await.json();
        assert_eq!(entry["request_id"], entries["data"][0]["request_id"], "{}", shared.name);
        assert!(text(entry, "request_id").starts_with("req_"), "{}", shared.name);
        world.post(&format!("{}/test", path(&webhook)), json!({})).await;
        engine.run_once().await.unwrap();
        let test = &list(world, "?filter[event_type]=test.ping").await[0];
        assert_eq!(test["request_id"], Value::Null, "{}", shared.name);
    }
}

#[tokio::test]
async fn stats_count_attempts_and_queued_deliveries() {
    for shared in every_store().await {
        let (world, store) = (&shared.world, shared.name);
        let webhook = subscribe(world, &["employee.created"]).await;
        let stats = async |query: &str| world.get(&format!("{}/stats{query}", path(&webhook))).await;
        let empty = stats("").await.json();
        assert_eq!((&empty["attempts"], &empty["p50_ms"], &empty["queued"]), (&json!(0), &Value::Null, &json!(0)));
        assert_eq!(empty["by_hour"].as_array().unwrap().len(), 25, "{store}");
        world.employee("ada@example.com").await;
        world.attempt_all(503).await;
        world.employee("grace@example.com").await;
        world.attempt_all(204).await;
        world.clock.advance_millis(1);
        let stats_json = stats("?window=1h").await.json();
        let numbers =
            ["attempts", "successes", "failures", "p50_ms", "p95_ms", "queued"].map(|name| &stats_json[name]);
        assert_eq!(numbers.map(|number| number.as_u64().unwrap()), [2, 1, 1, 7, 7, 1], "{store}: {stats_json}");
        assert_eq!(stats_json["failures_by_reason"], json!([{"reason": "status", "count": 1}]), "{store}");
        assert!(
            stats_json["next_attempt_at"].is_string() && stats_json["oldest_queued_at"].is_string(),
            "{store}"
        );
        let attempt_count: u64 =
            stats_json["by_hour"].as_array().unwrap().iter().map(|hour| hour["attempts"].as_u64().unwrap()).sum();
        assert_eq!(attempt_count, 2, "{store}");
        assert_eq!(stats("?window=2h").await.status, 400, "{store}");
        let counts = |stats: &Value| ["window", "attempts", "failures", "queued"].map(|name| stats[name].clone());
        let day = counts(&stats("").await.json());
        let other = subscribe(world, &["employee.deactivated"]).await;
        let none = counts(&world.get(&format!("{}/stats", path(&other))).await.json());
        let page = world.get("/v1/webhooks?expand=stats").await.json();
        assert_eq!([0, 1].map(|at| counts(&page["data"][at]["stats"])), [none, day.clone()], "{store}");
        let one = world.get(&format!("{}?expand=stats", path(&webhook))).await.json();
        assert_eq!(counts(&one["stats"]), day, "{store}");
        for query in ["?expand=log", "?expand="] {
            assert_eq!(world.get(&format!("/v1/webhooks{query}")).await.status, 400, "{store}: {query}");
            assert_eq!(world.get(&format!("{}{query}", path(&webhook))).await.status, 400, "{store}: {query}");
        }
        let plain_page = world.get("/v1/webhooks").await.json();
        assert_eq!(plain_page["data"][0].get("stats"), None, "{store}");
    }
}
