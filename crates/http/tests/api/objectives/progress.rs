//! Authors and effects of check-ins, and objectives with a parent (decisions C12, C13).

use candor_domain::access::AccessLevel;
use serde_json::{Value, json};

use super::check_ins::{OF_EMPLOYEE, create_measured};
use super::{KINDS, body, key_for, person, review, walk};
use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

async fn check_in(world: &TestApi, key: &str, path: &str, body: Value) -> TestResponse {
    world.bare("POST", &format!("{path}/check-ins")).key(key).json(&body).send().await
}

#[tokio::test]
async fn check_in_by_the_owner_is_no_review() {
    for setting in ["optional", "required", "disabled"] {
        let world = TestApi::new().await;
        let boss = person(&world, "boss", "manager", None).await;
        let ada = person(&world, "ada", "employee", Some(&boss)).await;
        let path = create_measured(&world, OF_EMPLOYEE, &ada, json!([{"title": "a", "target": 4}])).await;
        let objective_before = world.get(&path).await.json();
        let result = &objective_before["key_results"][0]["id"];
        review(&world, setting).await;
        let key = key_for(&world, &ada, AccessLevel::Standard).await;
        let body = json!({"confidence": "off_track", "key_results": [{"id": result, "current": 1}]});
        let response = check_in(&world, &key, &path, body).await;
        assert_eq!((response.status, &response.json()["author_id"]), (201, &json!(ada)), "{setting}");
        let objective_after = world.get(&path).await.json();
        for member in ["status", "approved_at", "submitted_at", "changed_since_approval"] {
            assert_eq!(objective_after[member], objective_before[member], "{setting}: {member}");
        }
        assert_eq!(objective_after["progress"], 25, "{setting}");
        assert_eq!(walk(&world, &world.admin, "/v1/notifications?limit=9").await, [] as [Value; 0], "{setting}");
    }
}

#[tokio::test]
async fn bound_key_checks_in_as_its_person() {
    let world = TestApi::new().await;
    let boss = person(&world, "boss", "manager", None).await;
    let ada = person(&world, "ada", "employee", Some(&boss)).await;
    let eve = person(&world, "eve", "employee", Some(&boss)).await;
    let path = create_measured(&world, OF_EMPLOYEE, &ada, json!([])).await;
    let absent = "emp_00000000000000000000000001";
    let [of_ada, of_boss, of_eve] =
        [&ada, &boss, &eve].map(|person| key_for(&world, person, AccessLevel::Standard));
    let (of_ada, of_boss, of_eve) = (of_ada.await, of_boss.await, of_eve.await);
    for (key, author, status, written) in [
        (&of_ada, None, 201, json!(ada)),
        (&of_ada, Some(json!(ada)), 201, json!(ada)),
        (&of_ada, Some(json!(eve)), 403, Value::Null),
        (&of_ada, Some(Value::Null), 403, Value::Null),
        (&of_boss, None, 201, json!(boss)),
        (&of_eve, None, 404, Value::Null),
        (&world.admin, None, 201, Value::Null),
        (&world.admin, Some(json!(eve)), 201, json!(eve)),
        (&world.admin, Some(json!(absent)), 422, Value::Null),
    ] {
        let mut body = json!({"note": "Well."});
        if let Some(author) = &author {
            body["author_id"] = author.clone();
        }
        let response = check_in(&world, key, &path, body).await;
        assert_eq!(response.status, status, "{author:?}: {}", response.text());
        if status == 201 {
            assert_eq!(response.json()["author_id"], written, "{author:?}");
        }
    }
    let list = format!("{path}/check-ins");
    for (key, status) in [(&of_ada, 200), (&of_boss, 200), (&of_eve, 404)] {
        assert_eq!(world.bare("GET", &list).key(key).send().await.status, status);
    }
    assert_eq!(world.get(&list).await.json()["data"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn check_in_is_found_under_its_objective_only() {
    let world = TestApi::new().await;
    let owner = person(&world, "ada", "org_admin", None).await;
    let (mut paths, mut ids) = (vec![], vec![]);
    for kind in KINDS {
        let path = create_measured(&world, kind, &owner, json!([])).await;
        ids.push(world.made(&format!("{path}/check-ins"), json!({"progress": 7})).await);
        paths.push(path);
    }
    for (at, path) in paths.iter().enumerate() {
        for (id_at, id) in ids.iter().enumerate() {
            let status = world.get(&format!("{path}/check-ins/{id}")).await.status;
            assert_eq!(status, if at == id_at { 200 } else { 404 }, "{path} {id}");
        }
        let wrong_order = world.get(&format!("{path}/check-ins?sort=progress")).await;
        assert_eq!(wrong_order.problems(), [("sort".to_owned(), "invalid_enum".to_owned())]);
        for method in ["PATCH", "PUT", "DELETE"] {
            let one = format!("{path}/check-ins/{}", ids[at]);
            assert_eq!(world.ask(method, &one).json(&json!({})).send().await.status, 405, "{method} {one}");
        }
    }
}

#[tokio::test]
async fn refused_dry_and_repeated_check_ins_add_none() {
    for shared in every_store().await {
        let world = &shared.world;
        let owner = person(world, "ada", "employee", None).await;
        let path = create_measured(world, OF_EMPLOYEE, &owner, json!([{"title": "a", "target": 4}])).await;
        let objective_before = world.get(&path).await.json();
        let id = &objective_before["key_results"][0]["id"];
        let list = format!("{path}/check-ins");
        let refusal = world.post(&list, json!({"progress": 7, "note": "x"})).await;
        assert_eq!(
            (refusal.status, refusal.problems()),
            (422, vec![("progress".to_owned(), "not_possible".to_owned())]),
            "{}",
            shared.name
        );
        assert!(refusal.text().contains("state the values of the key results"), "{}", refusal.text());
        let body = json!({"key_results": [{"id": id, "current": 3}]});
        let dry = world.post(&format!("{list}?dry_run=true"), body.clone()).await.json();
        assert_eq!((&dry["status"], &dry["events"]), (&json!(201), &json!(["objective.checked_in"])));
        assert_eq!((&dry["data"]["progress"], &dry["notifications"]), (&json!(75), &json!(0)), "{}", shared.name);
        assert_eq!(world.get(&path).await.json(), objective_before, "{}", shared.name);
        let send = async || {
            let request = world.ask("POST", &list).header("idempotency-key", "check-in-1");
            request.json(&body).send().await
        };
        let (first, second) = (send().await, send().await);
        assert_eq!((first.status, first.json()), (second.status, second.json()), "{}", shared.name);
        assert_eq!(world.get(&list).await.json()["data"], json!([first.json()]), "{}", shared.name);
    }
}

#[tokio::test]
async fn parent_that_is_archived_later_stays() {
    let world = TestApi::new().await;
    let boss = person(&world, "boss", "manager", None).await;
    let team = create_measured(&world, ("manager-objectives", "manager"), &boss, json!([])).await;
    let own = create_measured(&world, OF_EMPLOYEE, &boss, json!([])).await;
    let parent = team.rsplit('/').next().unwrap();
    assert_eq!(world.patch(&own, json!({"parent_id": parent})).await.status, 200);
    world.post(&format!("{team}/archive"), json!({})).await;
    let stored_objective = world.get(&own).await.json();
    assert_eq!(stored_objective["parent_id"], json!(parent));
    let expanded_objective = world.get(&format!("{own}?expand=parent")).await.json();
    assert_eq!(expanded_objective["parent"]["status"], "archived");
    let children = world.get(&format!("/v1/employee-objectives?filter[parent_id]={parent}")).await.json();
    assert_eq!(children["data"], json!([stored_objective]));
    let patch_response = world.patch(&own, stored_objective.clone()).await;
    assert_eq!(
        (patch_response.status, patch_response.json()),
        (200, stored_objective),
        "the stored value is ignored"
    );
    let mut new_objective = body("employee", &boss);
    new_objective["parent_id"] = json!(parent);
    let refusal = world.post("/v1/employee-objectives", new_objective.clone()).await;
    assert_eq!(
        (refusal.status, refusal.problems()),
        (422, vec![("parent_id".to_owned(), "invalid_state".to_owned())])
    );
    let second_team = create_measured(&world, ("manager-objectives", "manager"), &boss, json!([])).await;
    new_objective["parent_id"] = json!(second_team.rsplit('/').next().unwrap());
    let response = world.post("/v1/employee-objectives", new_objective.clone()).await;
    assert_eq!((response.status, &response.json()["parent_id"]), (201, &new_objective["parent_id"]));
}
