//! Automatic start of objectives when their period begins (decision C3).

use std::cell::Cell;

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_service::runtime::objective_autostart;
use candor_service::usecases::operator;
use serde_json::{Value, json};

use super::{Feed, KINDS, ask, body, create_objective, person};
use crate::stores::every_store;
use crate::support::TestApi;

const DAY: i64 = 86_400;

async fn create_approved(world: &TestApi, kind: (&str, &str), owner: &str, begins: &str) -> String {
    let mut body = body(kind.1, owner);
    body["period_start"] = json!(begins);
    body["status"] = json!("approved");
    create_objective(world, kind, body).await
}

async fn statuses(world: &TestApi, paths: &[String]) -> Vec<String> {
    let mut all = vec![];
    for path in paths {
        all.push(world.get(path).await.json()["status"].as_str().unwrap().to_owned());
    }
    all
}

async fn sweep(world: &TestApi) -> u64 {
    objective_autostart::due_objectives(&world.services, || true).await.unwrap()
}

#[tokio::test]
async fn approved_objective_starts_on_its_day_unless_held_back() {
    for shared in every_store().await {
        let world = &shared.world;
        let owner = person(world, "owner", "org_admin", None).await;
        let mut paths = vec![];
        for (kind, begins) in KINDS.into_iter().zip(["2026-03-02", "2026-03-04", "2026-03-04"]) {
            paths.push(create_approved(world, kind, &owner, begins).await);
        }
        let objective_before = world.get(&paths[1]).await.json();
        assert_eq!(sweep(world).await, 1, "the objective that begins today");
        assert_eq!(statuses(world, &paths).await, ["in_progress", "approved", "approved"]);
        assert_eq!(ask(world, &world.admin, &paths[0], "PATCH approved").await.status, 200);
        world.clock.advance_seconds(DAY);
        assert_eq!(sweep(world).await, 0);
        let mut feed = Feed::from_now(world).await;
        // First just before the end of the previous day, then just after the beginning of the start day.
        world.clock.advance_seconds(15 * 3600);
        world.clock.advance_millis(-1000);
        assert_eq!(
            (world.services.clock.now().date().to_string().as_str(), sweep(world).await),
            ("2026-03-03", 0)
        );
        world.clock.advance_millis(1000);
        assert_eq!(sweep(world).await, 2);
        assert_eq!(statuses(world, &paths).await, ["approved", "in_progress", "in_progress"]);
        let objective_after = world.get(&paths[1]).await.json();
        assert_eq!(objective_after["approved_at"], objective_before["approved_at"], "the start is no approval");
        assert_eq!(objective_after["updated_at"], json!(world.services.clock.now().to_string()));
        let events = feed.read().await;
        let mut event_scopes: Vec<_> = events
            .iter()
            .map(|event| (event["event"].as_str().unwrap(), event["data"]["scope"].as_str().unwrap()))
            .collect();
        // Both started in one commit, so the order of their events is undefined.
        event_scopes.sort_unstable();
        let status_event = "objective.status_changed";
        assert_eq!(event_scopes, [(status_event, "manager"), (status_event, "org")]);
        assert!(events.iter().any(|event| event["data"] == objective_after));
        let newest = world.get(&format!("{}/history?limit=1", paths[1])).await.json()["data"][0].clone();
        assert_eq!((&newest["action"], &newest["actor"]["type"]), (&json!("objective.start"), &json!("system")));
        assert_eq!(newest["changes"], json!({"status": {"from": "approved", "to": "in_progress"}}));
        // A paused objective starts only manually, also after its period has changed.
        assert_eq!(world.patch(&paths[0], json!({"period_start": "2026-03-03"})).await.status, 200);
        world.clock.advance_seconds(30 * DAY);
        assert_eq!(sweep(world).await, 0);
        assert_eq!(ask(world, &world.admin, &paths[0], "PATCH in_progress").await.status, 200);
        assert_eq!(statuses(world, &paths[..1]).await, ["in_progress"]);
    }
}

#[tokio::test]
async fn moved_period_moves_the_automatic_start() {
    let world = TestApi::new().await;
    let owner = person(&world, "owner", "employee", None).await;
    let path = create_approved(&world, KINDS[0], &owner, "2026-03-10").await;
    assert_eq!(world.patch(&path, json!({"period_start": "2026-03-01"})).await.json()["status"], "approved");
    assert_eq!(sweep(&world).await, 1);
    let late = create_approved(&world, KINDS[0], &owner, "2026-03-03").await;
    assert_eq!(world.patch(&late, json!({"period_start": "2026-03-20"})).await.status, 200);
    world.clock.advance_seconds(2 * DAY);
    assert_eq!(sweep(&world).await, 0);
}

#[tokio::test]
async fn several_instances_start_each_objective_once() {
    for shared in every_store().await {
        let world = &shared.world;
        let other = operator::create_organization(&world.services, "Other").await.unwrap();
        let key = world.key_of(other, Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
        let owner = person(world, "owner", "employee", None).await;
        let elsewhere = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Example"});
        let elsewhere = world.bare("POST", "/v1/employees").key(&key).json(&elsewhere).send().await.json();
        let mut paths = vec![];
        for number in 0..60 {
            paths.push(create_approved(world, KINDS[number % 2], &owner, "2026-02-01").await);
            let mut body = body("employee", elsewhere["id"].as_str().unwrap());
            body["period_start"] = json!("2026-02-01");
            body["status"] = json!("approved");
            let creation = world.bare("POST", "/v1/employee-objectives").key(&key).json(&body).send().await;
            assert_eq!(creation.status, 201, "{}", creation.text());
        }
        let mut feed = Feed::from_now(world).await;
        let instances = [shared.instance(11), shared.instance(12), shared.instance(13)];
        let (one, two, three) = tokio::join!(
            objective_autostart::due_objectives(&instances[0], || true),
            objective_autostart::due_objectives(&instances[1], || true),
            objective_autostart::due_objectives(&instances[2], || true),
        );
        assert_eq!(one.unwrap() + two.unwrap() + three.unwrap(), 120, "{}", shared.name);
        let mut ids_of_events: Vec<_> =
            feed.read().await.iter().map(|event| event["data"]["id"].to_string()).collect();
        assert_eq!(ids_of_events.len(), 60, "{}: one event for each objective", shared.name);
        ids_of_events.sort();
        ids_of_events.dedup();
        assert_eq!(ids_of_events.len(), 60, "{}: the events are of different objectives", shared.name);
        for path in paths {
            let history = world.get(&format!("{path}/history")).await.json();
            let actions: Vec<_> =
                history["data"].as_array().unwrap().iter().map(|item| item["action"].clone()).collect();
            assert_eq!(actions, [json!("objective.start"), json!("objective.create")], "{}", shared.name);
        }
    }
}

#[tokio::test]
async fn stopped_autostart_ends_after_a_batch_and_resumes() {
    let world = TestApi::new().await;
    let owner = person(&world, "owner", "employee", None).await;
    for _ in 0..60 {
        create_approved(&world, KINDS[0], &owner, "2026-02-01").await;
    }
    assert_eq!(objective_autostart::due_objectives(&world.services, || false).await.unwrap(), 0);
    let batches = Cell::new(0);
    let one_batch = || batches.replace(batches.get() + 1) < 1;
    let first = objective_autostart::due_objectives(&world.services, one_batch).await.unwrap();
    assert!(first > 0 && first < 60, "{first}");
    let count_in_progress = |list: Value| list["data"].as_array().unwrap().len();
    let path = "/v1/employee-objectives?limit=100&filter[status]=in_progress";
    assert_eq!(count_in_progress(world.get(path).await.json()) as u64, first);
    assert_eq!(sweep(&world).await, 60 - first);
}
