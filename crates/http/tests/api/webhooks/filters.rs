//! Content filters of subscriptions (decision F13).

use serde_json::{Value, json};

use super::{path, text};
use crate::support::TestApi;

/// A department, a person in it and a person outside of it.
struct Staff {
    department: String,
    inside: String,
    outside: String,
}

impl Staff {
    async fn new(world: &TestApi) -> Self {
        let department = world.made("/v1/departments", json!({"name": "Sales"})).await;
        let (inside, outside) = (world.employee("in@example.com").await, world.employee("out@example.com").await);
        let staff = Self { department, inside, outside };
        staff.move_to_department(world, &staff.inside, json!(staff.department)).await;
        staff
    }

    async fn move_to_department(&self, world: &TestApi, person: &str, department: Value) {
        let patch_response =
            world.patch(&format!("/v1/employees/{person}"), json!({"department_id": department})).await;
        assert_eq!(patch_response.status, 200, "{}", patch_response.text());
    }
}

async fn observe(world: &TestApi, person: &str, kind: &str) {
    let body = json!({"employee_id": person, "type": kind, "observation": "Listens."});
    world.made("/v1/observations", body).await;
}

async fn subscribe_with_filter(world: &TestApi, filter: Value) -> Value {
    world.clock.advance_millis(1);
    let body = json!({"url": "https://receiver.example/hooks", "event_types": ["*"], "filter": filter});
    let creation = world.post("/v1/webhooks", body).await;
    assert_eq!(creation.status, 201, "{}", creation.text());
    creation.json()
}

/// Attempts the due deliveries and returns the types of their events.
async fn deliver_due(world: &TestApi) -> Vec<&'static str> {
    let mut types: Vec<_> = world.attempt_all(200).await.iter().map(|entry| entry.event_type.into()).collect();
    types.sort_unstable();
    types
}

#[tokio::test]
async fn filtered_subscription_gets_matching_events_only() {
    let world = TestApi::new().await;
    let staff = Staff::new(&world).await;
    let filter = json!({"department_id": [staff.department], "type": "strength"});
    let webhook = subscribe_with_filter(&world, filter).await;
    let expected_filter =
        json!({"employee_id": null, "department_id": [staff.department], "type": "strength", "scope": null});
    assert_eq!(webhook["filter"], expected_filter);
    assert_eq!(world.get(&path(&webhook)).await.json()["filter"], expected_filter);
    for (person, kind) in
        [(&staff.inside, "opportunity"), (&staff.outside, "strength"), (&staff.inside, "strength")]
    {
        observe(&world, person, kind).await;
    }
    world.employee("new@example.com").await;
    assert_eq!(deliver_due(&world).await, ["observation.created"]);
    staff.move_to_department(&world, &staff.inside, Value::Null).await;
    staff.move_to_department(&world, &staff.outside, json!(staff.department)).await;
    observe(&world, &staff.inside, "strength").await;
    assert_eq!(deliver_due(&world).await, Vec::<&str>::new());
    observe(&world, &staff.outside, "strength").await;
    assert_eq!(deliver_due(&world).await, ["observation.created"]);
    world.clock.advance_seconds(1);
    let patch_response = world.patch(&path(&webhook), json!({"filter": null})).await;
    assert_eq!(patch_response.json()["filter"], Value::Null);
    observe(&world, &staff.inside, "opportunity").await;
    assert_eq!(deliver_due(&world).await, ["observation.created"]);
}

#[tokio::test]
async fn filter_by_person_covers_all_their_events() {
    let world = TestApi::new().await;
    let staff = Staff::new(&world).await;
    subscribe_with_filter(&world, json!({"employee_id": [staff.inside]})).await;
    observe(&world, &staff.inside, "strength").await;
    observe(&world, &staff.outside, "strength").await;
    staff.move_to_department(&world, &staff.inside, Value::Null).await;
    staff.move_to_department(&world, &staff.outside, json!(staff.department)).await;
    assert_eq!(deliver_due(&world).await, ["employee.updated", "observation.created"]);
}

#[tokio::test]
async fn replay_of_all_events_evaluates_the_filter_again() {
    let world = TestApi::new().await;
    let staff = Staff::new(&world).await;
    observe(&world, &staff.inside, "strength").await;
    observe(&world, &staff.outside, "strength").await;
    observe(&world, &staff.outside, "opportunity").await;
    let webhook =
        subscribe_with_filter(&world, json!({"department_id": [staff.department], "type": "strength"})).await;
    // The replay filters by the present departments, so the event about the second person is delivered.
    staff.move_to_department(&world, &staff.inside, Value::Null).await;
    staff.move_to_department(&world, &staff.outside, json!(staff.department)).await;
    world.clock.advance_seconds(1);
    let replay = |only: &str| {
        let (at, body) =
            (format!("{}/replay", path(&webhook)), json!({"since": "2026-03-02T09:00:00Z", "only": only}));
        let world = &world;
        async move { world.post(&at, body).await.json()["enqueued"].clone() }
    };
    assert_eq!(replay("all").await, json!(1));
    let attempts = world.attempt_all(500).await;
    assert_eq!(
        attempts.iter().map(|entry| entry.event_type.into()).collect::<Vec<&str>>(),
        ["observation.created"]
    );
    // A replay of failed deliveries ignores the filter.
    let patch_response = world.patch(&path(&webhook), json!({"filter": {"type": "opportunity"}})).await;
    assert_eq!(patch_response.status, 200, "{}", patch_response.text());
    assert_eq!(replay("failed").await, json!(1));
    assert_eq!(deliver_due(&world).await, ["observation.created"]);
    assert_eq!(replay("all").await, json!(1), "the opportunity, by the new filter");
}

#[tokio::test]
async fn test_of_a_filtered_subscription_is_sent() {
    let world = TestApi::new().await;
    let webhook = subscribe_with_filter(&world, json!({"scope": ["org"]})).await;
    assert_eq!(world.post(&format!("{}/test", path(&webhook)), json!({})).await.status, 200);
    assert_eq!(deliver_due(&world).await, ["test.ping"]);
}

#[tokio::test]
async fn invalid_filter_is_refused_with_its_path() {
    let world = TestApi::new().await;
    let webhook = subscribe_with_filter(&world, Value::Null).await;
    assert_eq!(webhook["filter"], Value::Null);
    for (filter, field, code) in [
        (json!({"employee_id": []}), "filter.employee_id", "too_short"),
        (json!({"employee_id": [text(&webhook, "id")]}), "filter.employee_id", "invalid_format"),
        (json!({"manager_id": []}), "filter.manager_id", "unknown_field"),
        (json!({"type": "weakness"}), "filter.type", "invalid_enum"),
        (json!("strength"), "filter", "invalid_format"),
    ] {
        let response = world.patch(&path(&webhook), json!({"filter": filter})).await;
        assert_eq!(response.refusal(), (400, "validation_error".to_owned()), "{filter}");
        assert_eq!(response.problems(), [(field.to_owned(), code.to_owned())], "{filter}");
    }
}
