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
        let above = key_for(world, &boss, AccessLevel::Standard).await;
        let patch = async |key: &str, path: &str, body: Value| {
            let answered = world.bare("PATCH", path).key(key).json(&body).send().await;
            assert_eq!(answered.status, 200, "{}", answered.text());
            answered.json()["changed_since_approval"].as_bool().unwrap()
        };
        for setting in ["optional", "required"] {
            review(world, setting).await;
            let path = objective(world, KINDS[0], &owner).await;
            let is_marked = setting == "required";
            assert!(!patch(&own, &path, json!({"title": "Before the approval"})).await, "{setting}");
            assert_eq!(ask(world, &own, &path, "submit").await.status, 200);
            let before = notices(world).await;
            for title in ["In review", "In review, again"] {
                assert!(!patch(&own, &path, json!({"title": title})).await, "{setting}");
                assert!(!patch(&above, &path, json!({"description": title})).await, "{setting}");
            }
            assert_eq!(
                notices(world).await - before,
                if is_marked { 2 } else { 0 },
                "{setting}: each one is told"
            );
            assert_eq!(ask(world, &above, &path, "approve").await.status, 200);
            assert!(!patch(&above, &path, json!({"title": "By who approves"})).await, "{setting}");
            assert!(!patch(&own, &path, json!({"metadata": {"a": "b"}})).await, "{setting}");
            let before = notices(world).await;
            for (member, value) in
                [("title", "Later"), ("description", "More"), ("period_end", "2031-12-31"), ("title", "Again")]
            {
                world.clock.advance_millis(1);
                assert_eq!(patch(&own, &path, json!({member: value})).await, is_marked, "{setting} {member}");
            }
            assert_eq!(notices(world).await - before, usize::from(is_marked), "only the first change is told");
            let again = ask(world, &own, &path, "approve").await;
            assert_eq!(again.status, if is_marked { 403 } else { 409 }, "{setting}: {}", again.text());
            assert_eq!(
                patch(&above, &path, json!({"title": "Other"})).await,
                is_marked,
                "a change approves nothing"
            );
            let before = world.get(&path).await.json();
            let approved = ask(world, &above, &path, "approve").await;
            assert_eq!(approved.status, if is_marked { 200 } else { 409 }, "{setting}: {}", approved.text());
            let after = world.get(&path).await.json();
            assert_eq!(after["changed_since_approval"], false);
            for member in ["status", "approved_at", "title"] {
                assert_eq!(after[member], before[member], "{setting} {member}");
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
    let patched = world.bare("PATCH", &path).key(&own).json(&json!({"title": "Other"})).send().await;
    assert_eq!(patched.json()["changed_since_approval"], true);
    let approved = ask(&world, &world.admin, &path, "approve").await;
    assert_eq!((approved.status, &approved.json()["status"]), (200, &json!("approved")), "{}", approved.text());
}
