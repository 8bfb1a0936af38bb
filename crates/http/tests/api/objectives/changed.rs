//! Changes of an objective after its approval (decision C10).

use candor_domain::access::AccessLevel;
use serde_json::{Value, json};

use super::{KINDS, ask, key_for, objective, person, review, walk};
use crate::stores::every_store;
use crate::support::TestApi;

async fn notices(world: &TestApi) -> usize {
    let all = walk(world, &world.admin, "/v1/notifications?limit=50").await;
    all.iter().filter(|notice| notice["type"] == "objective.changed").count()
}

#[tokio::test]
async fn change_by_the_owner_after_the_approval_is_marked_and_told() {
    for shared in every_store().await {
        let world = &shared.world;
        let boss = person(world, "boss", "manager", None).await;
        let owner = person(world, "owner", "employee", Some(&boss)).await;
        let own = key_for(world, &owner, AccessLevel::Standard).await;
        let boss_key = key_for(world, &boss, AccessLevel::Standard).await;
        let patch = async |key: &str, path: &str, body: Value| {
            let response = world.bare("PATCH", path).key(key).json(&body).send().await;
            assert_eq!(response.status, 200, "{}", response.text());
            response.json()["changed_since_approval"].as_bool().unwrap()
        };
        for setting in ["optional", "required"] {
            review(world, setting).await;
            let path = objective(world, KINDS[0], &owner).await;
            let is_marked = setting == "required";
            assert!(!patch(&own, &path, json!({"title": "Before the approval"})).await, "{setting}");
            assert_eq!(ask(world, &own, &path, "submit").await.status, 200);
            let count = notices(world).await;
            for title in ["In review", "In review, again"] {
                assert!(!patch(&own, &path, json!({"title": title})).await, "{setting}");
                assert!(!patch(&boss_key, &path, json!({"description": title})).await, "{setting}");
            }
            assert_eq!(
                notices(world).await - count,
                if is_marked { 2 } else { 0 },
                "{setting}: each change in review causes a notification"
            );
            assert_eq!(ask(world, &boss_key, &path, "approve").await.status, 200);
            assert!(!patch(&boss_key, &path, json!({"title": "By the approver"})).await, "{setting}");
            assert!(!patch(&own, &path, json!({"metadata": {"a": "b"}})).await, "{setting}");
            let count = notices(world).await;
            for (member, value) in
                [("title", "Later"), ("description", "More"), ("period_end", "2031-12-31"), ("title", "Again")]
            {
                world.clock.advance_millis(1);
                assert_eq!(patch(&own, &path, json!({member: value})).await, is_marked, "{setting} {member}");
            }
            assert_eq!(notices(world).await - count, usize::from(is_marked), "only the first change notifies");
            let response = ask(world, &own, &path, "approve").await;
            assert_eq!(response.status, if is_marked { 403 } else { 409 }, "{setting}: {}", response.text());
            assert_eq!(
                patch(&boss_key, &path, json!({"title": "Other"})).await,
                is_marked,
                "a change by the manager is no approval"
            );
            let objective_before = world.get(&path).await.json();
            let approval = ask(world, &boss_key, &path, "approve").await;
            assert_eq!(approval.status, if is_marked { 200 } else { 409 }, "{setting}: {}", approval.text());
            let objective_after = world.get(&path).await.json();
            assert_eq!(objective_after["changed_since_approval"], false);
            for member in ["status", "approved_at", "title"] {
                assert_eq!(objective_after[member], objective_before[member], "{setting} {member}");
            }
        }
    }
}

#[tokio::test]
async fn approval_of_a_changed_objective_keeps_its_status() {
    let world = TestApi::new().await;
    let owner = person(&world, "owner", "employee", None).await;
    let own = key_for(&world, &owner, AccessLevel::Standard).await;
    review(&world, "required").await;
    let path = objective(&world, KINDS[0], &owner).await;
    for trigger in ["submit", "approve", "PATCH in_progress", "PATCH approved"] {
        assert_eq!(ask(&world, &world.admin, &path, trigger).await.status, 200, "{trigger}");
    }
    let patch_response = world.bare("PATCH", &path).key(&own).json(&json!({"title": "Other"})).send().await;
    assert_eq!(patch_response.json()["changed_since_approval"], true);
    let approval = ask(&world, &world.admin, &path, "approve").await;
    assert_eq!((approval.status, &approval.json()["status"]), (200, &json!("approved")), "{}", approval.text());
}
