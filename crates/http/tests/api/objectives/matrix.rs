//! All combinations of state, trigger and review setting for objectives, in both resources and every scope.

use serde_json::{Value, json};

use super::contract::{REVIEWS, STATES, TRIGGERS, is_finished, next_state, reported};
use super::{Feed, KINDS, ask, body, create_objective, person, review};
use crate::support::TestApi;

/// Creates an objective and brings it into a state by the shortest path.
async fn create_in_state(world: &TestApi, kind: (&str, &str), owner: &str, state: &str) -> String {
    let has_started = matches!(state, "in_progress" | "completed" | "missed");
    let mut body = body(kind.1, owner);
    if has_started {
        body["status"] = json!("in_progress");
    }
    let path = create_objective(world, kind, body).await;
    let trigger = match state {
        "in review" => "submit",
        "approved" => "approve",
        "completed" => "complete",
        "missed" => "miss",
        "archived" => "archive",
        _ => return path,
    };
    assert_eq!(ask(world, &world.admin, &path, trigger).await.status, 200, "{state}");
    path
}

/// Returns the expected objective after a trigger has led to a state.
fn expected_after(before: &Value, trigger: &str, to: &str, now: &str) -> Value {
    let mut it = before.clone();
    it["status"] = json!(reported(to));
    it["updated_at"] = json!(now);
    match trigger {
        "submit" => it["submitted_at"] = json!(now),
        "reject" => it["submitted_at"] = Value::Null,
        "complete" => it["completed_at"] = json!(now),
        _ => {}
    }
    if matches!(to, "approved" | "in_progress") && before["approved_at"].is_null() {
        it["approved_at"] = json!(now);
    }
    it
}

async fn every_state_meets_every_trigger(kind: (&str, &str)) {
    let world = TestApi::new().await;
    let owner = person(&world, "owner", "org_admin", None).await;
    let mut feed = Feed::from_now(&world).await;
    for setting in REVIEWS {
        for state in STATES {
            for trigger in TRIGGERS {
                let case = format!("{kind:?} {setting}: {state} × {trigger}");
                review(&world, "optional").await;
                let path = create_in_state(&world, kind, &owner, state).await;
                review(&world, setting).await;
                let objective_before = world.get(&path).await.json();
                feed.read().await;
                world.clock.advance_millis(7);
                let now = world.services.clock.now().to_string();
                let response = ask(&world, &world.admin, &path, trigger).await;
                let same = !is_finished(state) && trigger.strip_prefix("PATCH ") == Some(reported(state));
                let (expected, events): (Value, &[&str]) = match next_state(state, trigger, setting) {
                    Some("archived") => (
                        expected_after(&objective_before, trigger, "archived", &now),
                        &["objective.status_changed", "objective.archived"],
                    ),
                    Some(to) => {
                        (expected_after(&objective_before, trigger, to, &now), &["objective.status_changed"])
                    }
                    None => (objective_before.clone(), &[]),
                };
                if same || next_state(state, trigger, setting).is_some() {
                    assert_eq!((response.status, response.json()), (200, expected.clone()), "{case}");
                } else {
                    assert_eq!(response.refusal(), (409, "conflict".to_owned()), "{case}");
                    let action = trigger.trim_start_matches("PATCH ");
                    let details = json!([
                        {"field": "status", "current": reported(state), "attempted_transition": action}
                    ]);
                    assert_eq!(response.json()["error"]["details"], details, "{case}");
                }
                assert_eq!(world.get(&path).await.json(), expected, "{case}");
                let new_events = feed.read().await;
                let names: Vec<_> = new_events.iter().map(|item| item["event"].as_str().unwrap()).collect();
                assert_eq!(names, events, "{case}");
                assert!(
                    new_events.iter().all(|item| item["data"] == expected && item["data"]["scope"] == kind.1),
                    "{case}"
                );
            }
        }
    }
}

#[tokio::test]
async fn employee_objective_state_decides_result_of_each_trigger() {
    every_state_meets_every_trigger(KINDS[0]).await;
}

#[tokio::test]
async fn manager_objective_state_decides_result_of_each_trigger() {
    every_state_meets_every_trigger(KINDS[1]).await;
}

#[tokio::test]
async fn org_objective_state_decides_result_of_each_trigger() {
    every_state_meets_every_trigger(KINDS[2]).await;
}

#[tokio::test]
async fn objective_is_editable_until_finished() {
    let world = TestApi::new().await;
    let owner = person(&world, "owner", "org_admin", None).await;
    let mut feed = Feed::from_now(&world).await;
    for kind in KINDS {
        for state in STATES {
            let path = create_in_state(&world, kind, &owner, state).await;
            let objective_before = world.get(&path).await.json();
            feed.read().await;
            world.clock.advance_millis(7);
            let title = objective_before["title"].clone();
            for (body, changes) in [
                (json!({"title": title}), false),
                (json!({"description": "Weekends excepted."}), true),
                (json!({"period_start": "2026-05-01", "period_end": "2026-05-01"}), true),
                (json!({"title": null, "period_end": "2020-01-01", "priority": 1}), false),
            ] {
                world.clock.advance_millis(7);
                let response = world.patch(&path, body.clone()).await;
                let names: Vec<_> = feed.read().await.iter().map(|event| event["event"].clone()).collect();
                if is_finished(state) {
                    assert_eq!(response.refusal(), (409, "conflict".to_owned()), "{state} {body}");
                    assert_eq!(
                        (world.get(&path).await.json(), names),
                        (objective_before.clone(), vec![]),
                        "{state} {body}"
                    );
                } else if body["title"].is_null() && body.get("title").is_some() {
                    assert_eq!(response.refusal(), (400, "validation_error".to_owned()), "{state} {body}");
                } else {
                    assert_eq!(response.status, 200, "{state} {body}");
                    let expected_events = if changes { vec![json!("objective.updated")] } else { vec![] };
                    assert_eq!(names, expected_events, "{state} {body}");
                }
            }
        }
    }
}
