//! All combinations of status, action and review setting for summaries.

use serde_json::{Value, json};

use super::{ask, body, employee_and_boss, perform, summary};
use crate::support::TestApi;

const STATUSES: [&str; 5] = ["draft", "pending_review", "approved", "shared", "archived"];
const ACTIONS: [&str; 6] = ["submit", "approve", "return", "share", "feedback", "archive"];

/// Returns the status after an action, from the contract's table; independent of the code under test. `None` if
/// the table does not allow the action.
fn next_status(from: &str, action: &str, review: &str) -> Option<&'static str> {
    match (action, from) {
        ("submit", "draft") if review != "disabled" => Some("pending_review"),
        ("approve", "draft") if review != "required" => Some("approved"),
        ("approve", "pending_review") => Some("approved"),
        ("return", "pending_review" | "approved") if review != "disabled" => Some("draft"),
        ("share", "approved") | ("feedback", "shared") => Some("shared"),
        ("archive", "draft" | "pending_review" | "approved" | "shared") => Some("archived"),
        _ => None,
    }
}

/// Creates a summary and brings it into a status by the shortest path.
async fn create_in_status(world: &TestApi, employee: &str, status: &str) -> String {
    let path = summary(world, body(employee)).await;
    let way: &[&str] = match status {
        "pending_review" => &["submit"],
        "approved" => &["approve"],
        "shared" => &["approve", "share"],
        "archived" => &["archive"],
        _ => &[],
    };
    perform(world, &path, way).await;
    path
}

/// Returns the expected summary after an action has led to a status.
fn expected_after(before: &Value, action: &str, to: &str, now: &str) -> Value {
    let mut it = before.clone();
    (it["status"], it["updated_at"]) = (json!(to), json!(now));
    match action {
        "submit" => it["submitted_at"] = json!(now),
        "approve" => it["approved_at"] = json!(now),
        "return" => (it["submitted_at"], it["approved_at"]) = (Value::Null, Value::Null),
        "share" => it["shared_at"] = json!(now),
        "archive" => it["archived_at"] = json!(now),
        _ => it["employee_feedback"] = json!({"comment": null, "acknowledged": false, "submitted_at": now}),
    }
    it
}

#[tokio::test]
async fn summary_status_and_review_setting_decide_each_action() {
    let world = TestApi::new().await;
    let (employee, _) = employee_and_boss(&world).await;
    let review = async |setting: &str| {
        assert_eq!(world.patch("/v1/organization", json!({"summary_review": setting})).await.status, 200);
    };
    for setting in ["optional", "required", "disabled"] {
        for status in STATUSES {
            for action in ACTIONS {
                let case = format!("{setting}: {status} × {action}");
                review("optional").await;
                let path = create_in_status(&world, &employee, status).await;
                review(setting).await;
                let summary_before = world.get(&path).await.json();
                world.clock.advance_millis(7);
                let now = world.services.clock.now().to_string();
                let response = ask(&world, &world.admin, &path, action).await;
                match next_status(status, action, setting) {
                    Some(to) => {
                        let expected_summary = expected_after(&summary_before, action, to, &now);
                        assert_eq!((response.status, response.json()), (200, expected_summary.clone()), "{case}");
                        assert_eq!(world.get(&path).await.json(), expected_summary, "{case}");
                    }
                    None => {
                        assert_eq!(response.refusal(), (409, "conflict".to_owned()), "{case}");
                        let details =
                            json!([{"field": "status", "current": status, "attempted_transition": action}]);
                        assert_eq!(response.json()["error"]["details"], details, "{case}");
                        assert_eq!(world.get(&path).await.json(), summary_before, "{case}");
                    }
                }
                let patch_status = world.patch(&path, json!({"title": "Another"})).await.status;
                let is_open =
                    matches!(next_status(status, action, setting).unwrap_or(status), "draft" | "pending_review");
                assert_eq!(patch_status, if is_open { 200 } else { 409 }, "{case}");
            }
        }
    }
}
