//! Life cycle of a summary, with its notifications.

use candor_domain::access::AccessLevel;
use serde_json::json;

use super::{ask, body, employee_and_boss, objective, observation, perform, summary};
use crate::objectives::{Feed, key_for, person, walk};
use crate::snapshots::shown;
use crate::support::TestApi;

#[tokio::test]
async fn summary_lifecycle_matches_snapshots() {
    let world = TestApi::new().await;
    let (employee, author) = employee_and_boss(&world).await;
    let (goal, noted) = (objective(&world, &employee).await, observation(&world, &employee).await);
    let body = json!({
        "employee_id": employee, "author_id": author, "title": "First half", "period_start": "2026-01-01",
        "period_end": "2026-06-30", "included_objective_ids": [goal], "included_observation_ids": [noted],
    });
    let creation = world.post("/v1/summaries", body).await;
    insta::assert_snapshot!("created", shown(&creation));
    let path = format!("/v1/summaries/{}", creation.json()["id"].as_str().unwrap());
    insta::assert_snapshot!("blank", shown(&ask(&world, &world.admin, &path, "submit").await));
    let text = json!({"body": "Calm under pressure.", "period_start": null, "period_end": null});
    insta::assert_snapshot!("updated", shown(&world.patch(&path, text).await));
    for (name, action) in
        [("submitted", "submit"), ("returned", "return"), ("approved", "approve"), ("shared", "share")]
    {
        world.clock.advance_seconds(1);
        insta::assert_snapshot!(name, shown(&ask(&world, &world.admin, &path, action).await));
    }
    insta::assert_snapshot!("fixed", shown(&world.patch(&path, json!({"title": "Second half"})).await));
    let feedback = json!({"comment": "Thank you.", "acknowledged": true});
    insta::assert_snapshot!("feedback", shown(&world.post(&format!("{path}/feedback"), feedback).await));
    insta::assert_snapshot!("feedback_twice", shown(&ask(&world, &world.admin, &path, "feedback").await));
    insta::assert_snapshot!("archived", shown(&ask(&world, &world.admin, &path, "archive").await));
    insta::assert_snapshot!("archived_twice", shown(&ask(&world, &world.admin, &path, "archive").await));
    insta::assert_snapshot!("got", shown(&world.get(&path).await));
    insta::assert_snapshot!("listed", shown(&world.get("/v1/summaries?filter[status]=archived").await));
    insta::assert_snapshot!("told", shown(&world.get("/v1/notifications").await));
    let log = format!("/v1/audit-log?filter[target_id]={}", creation.json()["id"].as_str().unwrap());
    insta::assert_snapshot!("audited", shown(&world.get(&log).await));
}

#[tokio::test]
async fn summary_history_has_former_texts_and_the_reason() {
    let world = TestApi::new().await;
    let (employee, author) = employee_and_boss(&world).await;
    let draft = json!({"employee_id": employee, "author_id": author, "title": "First half", "body": "Calm."});
    let path =
        format!("/v1/summaries/{}", world.post("/v1/summaries", draft).await.json()["id"].as_str().unwrap());
    let reading_author = key_for(&world, &author, AccessLevel::Standard).await;
    perform(&world, &path, &["submit"]).await;
    assert_eq!(world.post(&format!("{path}/return"), json!({"reason": "Name a case."})).await.status, 200);
    assert_eq!(world.patch(&path, json!({"body": "Calm with a caller."})).await.status, 200);
    let entries = walk(&world, &reading_author, &format!("{path}/history?limit=1")).await;
    let actions: Vec<_> = entries.iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["summary.update", "summary.return", "summary.submit", "summary.create"]);
    assert_eq!(entries[0]["changes"]["body"], json!({"from": "Calm.", "to": "Calm with a caller."}));
    assert_eq!(entries[1]["comment"], "Name a case.");
    assert!(entries.iter().all(|entry| entry.get("context").is_none()), "{entries:?}");
}

#[tokio::test]
async fn summary_change_fires_its_event_with_the_resource_as_read() {
    let world = TestApi::new().await;
    let (employee, _) = employee_and_boss(&world).await;
    let goal = objective(&world, &employee).await;
    let mut feed = Feed::from_now(&world).await;
    let path = summary(&world, body(&employee)).await;
    let mut check_event = async |what: &str| {
        let events = feed.all("summary.").await;
        let now = world.get(&path).await.json();
        assert!(events.iter().all(|event| event["data"] == now), "{what}: {events:?}");
        events.iter().map(|event| event["event"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(check_event("create").await, ["summary.created"]);
    for (patch, events) in [
        (json!({"title": "Second half"}), vec!["summary.updated"]),
        (json!({"period_start": "2026-01-01", "period_end": "2026-06-30"}), vec!["summary.updated"]),
        (json!({"body": "Calm."}), vec!["summary.updated"]),
        (json!({"body": "Calm."}), vec![]),
        (json!({"included_objective_ids": [goal]}), vec!["summary.updated"]),
    ] {
        assert_eq!(world.patch(&path, patch.clone()).await.status, 200);
        assert_eq!(check_event(&patch.to_string()).await, events, "{patch}");
    }
    for (action, event) in [
        ("submit", "summary.submitted"),
        ("return", "summary.updated"),
        ("approve", "summary.approved"),
        ("share", "summary.shared"),
        ("feedback", "summary.feedback_submitted"),
        ("archive", "summary.archived"),
    ] {
        perform(&world, &path, &[action]).await;
        assert_eq!(check_event(action).await, [event]);
        assert_eq!(
            ask(&world, &world.admin, &path, "submit").await.status,
            if action == "return" { 200 } else { 409 }
        );
        if action == "return" {
            assert_eq!(check_event("submit").await, ["summary.submitted"]);
        }
    }
}

#[tokio::test]
async fn summary_notifies_manager_author_and_employee() {
    let world = TestApi::new().await;
    let (employee, boss) = employee_and_boss(&world).await;
    let author = person(&world, "author", "employee", None).await;
    let notices = async || {
        let all = walk(&world, &world.admin, "/v1/notifications?sort=created_at&limit=3").await;
        all.iter()
            .map(|item| format!("{} {}", item["type"].as_str().unwrap(), item["recipient_id"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    let mut summary_body = body(&employee);
    summary_body["author_id"] = json!(author);
    let (theirs, nobodys) = (summary(&world, summary_body).await, summary(&world, body(&employee)).await);
    for path in [&theirs, &nobodys] {
        for action in ["submit", "return", "submit", "approve", "share", "feedback", "archive"] {
            world.clock.advance_millis(1);
            perform(&world, path, &[action]).await;
        }
    }
    let (review, shared) = (format!("summary.pending_review {boss}"), format!("summary.shared {employee}"));
    let expected_notices = [
        review.clone(),
        format!("summary.returned {author}"),
        review.clone(),
        shared.clone(),
        format!("summary.feedback_submitted {author}"),
        review.clone(),
        review,
        shared,
    ];
    assert_eq!(notices().await, expected_notices);
}
