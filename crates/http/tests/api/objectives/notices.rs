//! Recipients of objective notifications, which are written in the transaction of the action (decision G).

use serde_json::{Value, json};

use super::{KINDS, ask, body, create_objective, objective, person, walk};
use crate::support::TestApi;

/// Returns recipient, type and body of all notifications, oldest first.
async fn all_notices(world: &TestApi) -> Vec<(String, String, String)> {
    let text = |item: &Value, name: &str| item[name].as_str().unwrap().to_owned();
    let all = walk(world, &world.admin, "/v1/notifications?sort=created_at&limit=3").await;
    all.iter().map(|notice| (text(notice, "recipient_id"), text(notice, "type"), text(notice, "body"))).collect()
}

fn notice(to: &str, kind: &str, body: &str) -> (String, String, String) {
    (to.to_owned(), kind.to_owned(), body.to_owned())
}

#[tokio::test]
async fn submission_notifies_the_manager_and_decision_the_owner() {
    let world = TestApi::new().await;
    let boss = person(&world, "boss", "manager", None).await;
    let owner = person(&world, "owner", "employee", Some(&boss)).await;
    person(&world, "admin", "org_admin", None).await;
    let path = objective(&world, KINDS[0], &owner).await;
    assert_eq!(all_notices(&world).await, [], "a new objective causes no notification");
    ask(&world, &world.admin, &path, "submit").await;
    world.clock.advance_millis(1);
    let reason = "Which tickets?\n\"All\"?";
    assert_eq!(world.post(&format!("{path}/reject"), json!({"reason": reason})).await.status, 200);
    world.clock.advance_millis(1);
    assert_eq!(world.post(&format!("{path}/approve"), json!({"comment": "Good."})).await.status, 200);
    let expected_notices = [
        notice(&boss, "objective.submitted", ""),
        notice(&owner, "objective.rejected", reason),
        notice(&owner, "objective.approved", "Good."),
    ];
    assert_eq!(all_notices(&world).await, expected_notices);
    // Neither refused actions nor start, completion and archiving send a notification.
    for trigger in ["approve", "reject", "submit", "miss"] {
        assert_eq!(ask(&world, &world.admin, &path, trigger).await.status, 409);
    }
    for trigger in ["PATCH in_progress", "complete", "archive"] {
        assert_eq!(ask(&world, &world.admin, &path, trigger).await.status, 200);
    }
    assert_eq!(all_notices(&world).await, expected_notices);
    let one = world.get(&format!("/v1/notifications?filter[recipient_id]={boss}")).await.json()["data"][0].clone();
    let id = path.rsplit('/').next().unwrap();
    assert_eq!(one["target"], json!({"type": "objective", "id": id}));
    assert!(one["title"].as_str().unwrap().contains("Answer within a day") && one["read_at"].is_null());
}

#[tokio::test]
async fn submission_without_active_manager_notifies_org_admins() {
    let world = TestApi::new().await;
    let (one, two) =
        (person(&world, "one", "org_admin", None).await, person(&world, "two", "org_admin", None).await);
    let former_admin = person(&world, "gone", "org_admin", None).await;
    let boss = person(&world, "boss", "manager", None).await;
    let (free, owner) =
        (person(&world, "free", "employee", None).await, person(&world, "owner", "employee", Some(&boss)).await);
    for left in [&former_admin, &boss] {
        assert_eq!(world.post(&format!("/v1/employees/{left}/deactivate"), json!({})).await.status, 200);
    }
    for person in [&free, &owner] {
        let count_before = all_notices(&world).await.len();
        let path = objective(&world, KINDS[1], person).await;
        world.clock.advance_millis(1);
        assert_eq!(ask(&world, &world.admin, &path, "submit").await.status, 200);
        let mut new: Vec<_> = all_notices(&world).await.split_off(count_before);
        new.sort();
        let mut expected_notices =
            [notice(&one, "objective.submitted", ""), notice(&two, "objective.submitted", "")];
        expected_notices.sort();
        assert_eq!(new, expected_notices, "{person}");
    }
}

#[tokio::test]
async fn notification_is_read_once_and_read_all_covers_one_person() {
    let world = TestApi::new().await;
    let (owner, other) =
        (person(&world, "owner", "employee", None).await, person(&world, "other", "employee", None).await);
    for person in [&owner, &owner, &owner, &other] {
        let path = create_objective(&world, KINDS[0], body("employee", person)).await;
        assert_eq!(ask(&world, &world.admin, &path, "approve").await.status, 200);
    }
    let list = async |query: &str| walk(&world, &world.admin, &format!("/v1/notifications?limit=2{query}")).await;
    let first = list(&format!("&filter[recipient_id]={owner}")).await[0].clone();
    let path = format!("/v1/notifications/{}/read", first["id"].as_str().unwrap());
    world.clock.advance_millis(5);
    let mut read = first.clone();
    read["read_at"] = json!(world.services.clock.now().to_string());
    assert_eq!(world.post(&path, json!({})).await.json(), read);
    world.clock.advance_millis(5);
    assert_eq!(world.post(&path, json!({})).await.json(), read, "a second request changes nothing");
    assert_eq!(list("&filter[unread]=false").await, [read.clone()]);
    assert_eq!(list("&filter[unread]=true").await.len(), 3);
    assert_eq!(list(&format!("&filter[unread]=true&filter[recipient_id]={owner}")).await.len(), 2);
    let all = world.post("/v1/notifications/read_all", json!({"recipient_id": owner})).await;
    assert_eq!((all.status, &all.json()["recipient_id"]), (200, &json!(owner)));
    assert_eq!(all.json()["complete"], true);
    let unread_notices = list("&filter[unread]=true").await;
    assert_eq!(
        unread_notices.iter().map(|item| item["recipient_id"].as_str().unwrap()).collect::<Vec<_>>(),
        [&other]
    );
    assert!(list("").await.contains(&read), "a notification that was read before is unchanged");
}

#[tokio::test]
async fn read_all_requires_a_person_of_the_organization() {
    let world = TestApi::new().await;
    let refusal = async |body: Value| {
        let response = world.post("/v1/notifications/read_all", body).await;
        (response.status, response.problems())
    };
    let problem = |code: &str| vec![("recipient_id".to_owned(), code.to_owned())];
    assert_eq!(refusal(json!({})).await, (400, problem("required")));
    assert_eq!(refusal(json!({"recipient_id": 7})).await, (400, problem("invalid_format")));
    assert_eq!(refusal(json!({"recipient_id": "emp_x"})).await, (422, problem("not_found_in_organization")));
}
