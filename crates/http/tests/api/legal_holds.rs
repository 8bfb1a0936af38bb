//! Legal holds on the data of people (decision H3).

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions};
use serde_json::json;

use crate::objectives::person;
use crate::stores::every_store;
use crate::support::TestApi;

#[tokio::test]
async fn hold_is_set_replaced_and_released_with_events() {
    for shared in every_store().await {
        let world = &shared.world;
        let employee = person(world, "joe", "employee", None).await;
        let path = format!("/v1/employees/{employee}/legal-hold");
        let set = async |reason: &str| world.ask("PUT", &path).json(&json!({"reason": reason})).send().await;
        assert_eq!(world.get(&path).await.refusal(), (404, "not_found".to_owned()), "{}", shared.name);
        let hold_response = set("Lawsuit").await;
        assert_eq!(
            (hold_response.status, &hold_response.json()["reason"]),
            (200, &json!("Lawsuit")),
            "{}",
            hold_response.text()
        );
        world.clock.advance_seconds(1);
        let second_hold = set("Appeal").await.json();
        assert_eq!(second_hold["held_at"], hold_response.json()["held_at"], "{}", shared.name);
        assert_eq!(set("Appeal").await.json(), second_hold, "{}", shared.name);
        assert_eq!(world.get(&path).await.json(), second_hold, "{}", shared.name);
        let employee_response = world.get(&format!("/v1/employees/{employee}")).await;
        assert!(!employee_response.text().contains("Appeal"), "{}", employee_response.text());
        assert_eq!(world.ask("DELETE", &path).send().await.status, 204, "{}", shared.name);
        assert_eq!(world.ask("DELETE", &path).send().await.status, 404, "{}", shared.name);
        let hold_events = world.get("/v1/events?filter[event]=employee.hold_changed").await.json();
        assert_eq!(hold_events["data"].as_array().unwrap().len(), 3, "{}", shared.name);
        let filter = format!("/v1/audit-log?filter[target_id]={employee}&filter[action]=employee.hold");
        let entries = world.get(&filter).await.json();
        let change = &entries["data"][0]["changes"]["legal_hold"];
        assert_eq!(change, &json!({"from": "set", "to": "changed"}), "{}", shared.name);
        let log = world.get("/v1/audit-log").await.text();
        assert!(!log.contains("Lawsuit") && !log.contains("Appeal"), "{log}");
    }
}

#[tokio::test]
async fn hold_moves_nothing_that_readers_of_the_person_see() {
    for shared in every_store().await {
        let world = &shared.world;
        let employee = person(world, "joe", "employee", None).await;
        let (path, hold_path) =
            (format!("/v1/employees/{employee}"), format!("/v1/employees/{employee}/legal-hold"));
        let read = async || {
            let response = world.get(&path).await;
            let list = world.get("/v1/employees?sort=-updated_at").await.json();
            (response.header("etag").map(ToOwned::to_owned), response.json(), list["data"].clone())
        };
        let tag = async || read().await.0.unwrap();
        let patch = async |tag: &str, title: &str| {
            world.clock.advance_millis(1);
            world.ask("PATCH", &path).header("If-Match", tag).json(&json!({"job_title": title})).send().await
        };
        let hold = async |method: &str, reason: Option<&str>| {
            world.clock.advance_millis(1);
            let request = world.ask(method, &hold_path).header("If-Match", &tag().await);
            let request =
                if let Some(reason) = reason { request.json(&json!({"reason": reason})) } else { request };
            assert!([200, 204].contains(&request.send().await.status), "{method} on {}", shared.name);
        };
        let unheld_person = read().await;
        for (method, reason) in
            [("PUT", Some("Lawsuit")), ("PUT", Some("Appeal")), ("DELETE", None), ("PUT", Some("Lawsuit"))]
        {
            hold(method, reason).await;
            assert_eq!(read().await, unheld_person, "{method} on {}", shared.name);
        }
        // The tag from before the hold stays valid, each visible change moves it, and an older one is refused.
        let first_tag = unheld_person.0.unwrap();
        let changed_person = patch(&first_tag, "Clerk").await;
        assert_eq!(changed_person.status, 200, "{}", changed_person.text());
        assert_eq!(changed_person.header("etag"), Some(tag().await.as_str()), "{}", shared.name);
        assert_eq!(patch(&first_tag, "Chief").await.status, 412, "{}", shared.name);
        hold("DELETE", None).await;
        assert_eq!(patch(&tag().await, "Chief").await.status, 200, "{}", shared.name);
    }
}

#[tokio::test]
async fn hold_is_expanded_for_erasing_admin_keys() {
    for shared in every_store().await {
        let world = &shared.world;
        let employee = person(world, "joe", "employee", None).await;
        let path = format!("/v1/employees/{employee}/legal-hold");
        let expanded_paths =
            [format!("/v1/employees/{employee}?expand=legal_hold"), "/v1/employees?expand=legal_hold".into()];
        let holds = async || {
            let [one, page] =
                [world.get(&expanded_paths[0]).await.json(), world.get(&expanded_paths[1]).await.json()];
            let page = page["data"].as_array().unwrap().iter().find(|row| row["id"] == one["id"]).unwrap().clone();
            [one["legal_hold"].clone(), page["legal_hold"].clone()]
        };
        assert_eq!(holds().await, [json!(null), json!(null)], "{}", shared.name);
        world.ask("PUT", &path).json(&json!({"reason": "Lawsuit"})).send().await;
        let hold = world.get(&path).await.json();
        assert_eq!(holds().await, [hold.clone(), hold], "{}", shared.name);
        assert!(world.get(&format!("/v1/employees/{employee}")).await.json().get("legal_hold").is_none());
        let reader = Permissions::NONE.with(Permission::EmployeesRead);
        for (scopes, level) in
            [(reader, AccessLevel::Admin), (reader.with(Permission::EmployeesErase), AccessLevel::Standard)]
        {
            let key = world.key(scopes, level, Environment::Live).await;
            for path in &expanded_paths {
                let response = world.bare("GET", path).key(&key).send().await;
                assert_eq!(response.refusal(), (403, "permission_denied".to_owned()), "{} {path}", shared.name);
            }
        }
    }
}

#[tokio::test]
async fn hold_moves_no_time_and_no_order_of_people() {
    for shared in every_store().await {
        let world = &shared.world;
        let employee = person(world, "joe", "employee", None).await;
        world.clock.advance_seconds(1);
        person(world, "ada", "employee", None).await;
        let visible_state = async || {
            let one = world.get(&format!("/v1/employees/{employee}")).await.text();
            (one, world.get("/v1/employees?sort=-updated_at").await.json()["data"].clone())
        };
        let state_before = visible_state().await;
        let path = format!("/v1/employees/{employee}/legal-hold");
        for reason in ["Lawsuit", "Appeal"] {
            world.clock.advance_seconds(1);
            assert_eq!(world.ask("PUT", &path).json(&json!({"reason": reason})).send().await.status, 200);
            assert_eq!(visible_state().await, state_before, "{}", shared.name);
        }
        world.clock.advance_seconds(1);
        assert_eq!(world.ask("DELETE", &path).send().await.status, 204, "{}", shared.name);
        assert_eq!(visible_state().await, state_before, "{}", shared.name);
    }
}

#[tokio::test]
async fn hold_survives_other_changes_of_the_person() {
    for shared in every_store().await {
        let world = &shared.world;
        let employee = person(world, "joe", "employee", None).await;
        let path = format!("/v1/employees/{employee}/legal-hold");
        world.ask("PUT", &path).json(&json!({"reason": "Lawsuit"})).send().await;
        world.patch(&format!("/v1/employees/{employee}"), json!({"job_title": "Nurse"})).await;
        world.post(&format!("/v1/employees/{employee}/deactivate"), json!({})).await;
        assert_eq!(world.get(&path).await.json()["reason"], "Lawsuit", "{}", shared.name);
    }
}

#[tokio::test]
async fn hold_needs_the_scope_of_erasures_and_a_reason() {
    let world = TestApi::new().await;
    let employee = person(&world, "joe", "employee", None).await;
    let path = format!("/v1/employees/{employee}/legal-hold");
    let scopes = Permissions::NONE.with(Permission::EmployeesWrite);
    let key = world.key(scopes, AccessLevel::Admin, Environment::Live).await;
    let response = world.bare("PUT", &path).key(&key).json(&json!({"reason": "Lawsuit"})).send().await;
    assert_eq!(response.json()["error"]["details"], json!([{"required_scope": "employees:erase"}]));
    let problems = world.ask("PUT", &path).json(&json!({})).send().await.problems();
    assert_eq!(problems, [("reason".to_owned(), "required".to_owned())]);
}
