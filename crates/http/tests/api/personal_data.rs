//! Access requests: all data about a person as lines (decision H2).

use std::collections::BTreeSet;

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions};
use candor_domain::fields::StringEnum;
use candor_domain::people::personal_data::PersonalDataType;
use serde_json::{Value, json};

use crate::objectives::{key_for, person};
use crate::resources::Resources;
use crate::stores::every_store;
use crate::support::TestApi;

async fn lines(world: &TestApi, id: &str) -> Vec<Value> {
    world.clock.advance_seconds(60);
    world.get(&format!("/v1/employees/{id}/personal-data")).await.lines()
}

#[tokio::test]
async fn personal_data_has_all_types_with_their_sources() {
    for shared in every_store().await {
        let world = &shared.world;
        let resources = Resources::make(world, &world.admin).await;
        let employee = resources.id("employees");
        let observation = json!({"employee_id": employee, "author_id": resources.id("invited"), "type": "strength",
            "observation": "Explains well."});
        let observation = world.made("/v1/observations", observation).await;
        world.patch(&format!("/v1/observations/{observation}"), json!({"impact": "Trust"})).await;
        let person_lines = lines(world, employee).await;
        let (end, rows) = person_lines.split_last().unwrap();
        assert_eq!(end, &json!({"type": "end", "count": rows.len()}), "{}", shared.name);
        let types: BTreeSet<_> = rows.iter().map(|row| row["type"].as_str().unwrap()).collect();
        let absent = ["invitation", "scim_account", "identity_link", "sync_issue", "api_key"];
        let expected_types: BTreeSet<_> =
            PersonalDataType::words().into_iter().filter(|word| !absent.contains(word)).collect();
        assert_eq!(types, expected_types, "{}", shared.name);
        let row = rows.iter().find(|row| row["data"]["id"] == json!(observation)).unwrap();
        assert_eq!(row["from"], json!({"type": "employee", "id": resources.id("invited")}));
        assert_eq!(row["data"], world.get(&format!("/v1/observations/{observation}")).await.json());
        let about = rows.iter().find(|row| row["data"]["changes"]["impact"].is_object()).unwrap();
        assert_eq!((&about["type"], &about["from"]["type"]), (&json!("audit_entry"), &json!("api_key")));
        let lines_of_invited = lines(world, resources.id("invited")).await;
        assert!(lines_of_invited.iter().any(|row| row["type"] == "invitation"), "{}", shared.name);
        assert!(
            !lines_of_invited.iter().any(|row| row["type"] == "observation"),
            "texts about others are not contained"
        );
        let filter = "/v1/audit-log?filter[action]=employee.read_personal_data";
        assert_eq!(world.get(filter).await.json()["data"].as_array().unwrap().len(), 2, "{}", shared.name);
    }
}

#[tokio::test]
async fn personal_data_of_many_rows_has_each_once() {
    for shared in every_store().await {
        let world = &shared.world;
        let owner = person(world, "joe", "employee", None).await;
        let key = key_for(world, &owner, AccessLevel::Standard).await;
        for number in 0..130 {
            world.clock.advance_seconds(1);
            let body = json!({"employee_id": owner, "type": "strength", "observation": format!("Text {number}")});
            let creation = world.bare("POST", "/v1/observations").key(&key).json(&body).send().await;
            assert_eq!(creation.status, 201, "{}", creation.text());
        }
        let person_lines = lines(world, &owner).await;
        let ids = |kind: &str| -> Vec<_> {
            person_lines
                .iter()
                .filter(|row| row["type"] == kind)
                .map(|row| row["data"]["id"].to_string())
                .collect()
        };
        let observations: BTreeSet<_> = ids("observation").into_iter().collect();
        assert_eq!((observations.len(), ids("observation").len()), (130, 130), "{}", shared.name);
        let entries: BTreeSet<_> = ids("audit_entry").into_iter().collect();
        assert!(entries.len() >= 130 && ids("api_key").len() == 1, "{}", shared.name);
    }
}

#[tokio::test]
async fn personal_data_needs_an_admin_key_with_either_scope() {
    let world = TestApi::new().await;
    let employee = person(&world, "joe", "employee", None).await;
    let path = format!("/v1/employees/{employee}/personal-data");
    for (scope, level, wanted) in [
        (Permission::EmployeesRead, AccessLevel::Admin, 200),
        (Permission::EmployeesErase, AccessLevel::Admin, 200),
        (Permission::EmployeesErase, AccessLevel::Standard, 403),
        (Permission::EmployeesRead, AccessLevel::Standard, 403),
        (Permission::EmployeesWrite, AccessLevel::Admin, 403),
    ] {
        let key = world.key(Permissions::NONE.with(scope), level, Environment::Live).await;
        let response = world.bare("GET", &path).key(&key).send().await;
        assert_eq!(response.status, wanted, "{scope:?} {level:?}: {}", response.text());
    }
    let missing = world.get("/v1/employees/emp_00000000000000000000000001/personal-data").await;
    assert_eq!(missing.refusal(), (404, "not_found".to_owned()));
}

#[tokio::test]
async fn notification_about_another_person_has_no_text() {
    for shared in every_store().await {
        let world = &shared.world;
        let joe = person(world, "joe", "manager", None).await;
        let peer = person(world, "peer", "employee", Some(&joe)).await;
        let create = async |path: &str, body: Value| format!("{path}/{}", world.made(path, body).await);
        let run = async |path: String, body: Value| {
            let response = world.post(&path, body).await;
            assert!(response.status < 300, "{path}: {}", response.text());
        };
        let objective = |owner: &str, title: &str| json!({"owner_id": owner, "title": title, "period_start": "2026-04-01", "period_end": "2026-06-30"});
        let of_peer = create("/v1/employee-objectives", objective(&peer, "Secret objective")).await;
        run(format!("{of_peer}/submit"), json!({})).await;
        let own = create("/v1/employee-objectives", objective(&joe, "Own objective")).await;
        run(format!("{own}/submit"), json!({})).await;
        run(format!("{own}/reject"), json!({"reason": "Too vague"})).await;
        let summary = |subject: &str, author: &str, title: &str| json!({"employee_id": subject, "author_id": author, "title": title, "body": "Calm."});
        let about_peer = create("/v1/summaries", summary(&peer, &joe, "Secret summary")).await;
        run(format!("{about_peer}/submit"), json!({})).await;
        run(format!("{about_peer}/return"), json!({"reason": "Secret reason"})).await;
        let about_joe = create("/v1/summaries", summary(&joe, &peer, "Own summary")).await;
        run(format!("{about_joe}/approve"), json!({})).await;
        run(format!("{about_joe}/share"), json!({})).await;
        run(
            "/v1/assignments".to_owned(),
            json!({"employee_id": peer, "title": "Secret review", "reviewer_ids": [joe], "requester_id": joe}),
        )
        .await;
        let talk = json!({"title": "Talk", "participant_ids": [joe, peer]});
        let talk = create("/v1/conversations", talk).await;
        run(format!("{talk}/messages"), json!({"author_id": peer, "body": "Secret message"})).await;

        let person_lines = lines(world, &joe).await;
        assert!(!json!(person_lines).to_string().contains("Secret"), "{}: {person_lines:?}", shared.name);
        let notices: Vec<_> = person_lines.iter().filter(|row| row["type"] == "notification").collect();
        for (kind, target, title, body) in [
            ("objective.submitted", "objective", None, None),
            ("summary.pending_review", "summary", None, None),
            ("summary.returned", "summary", None, None),
            ("assignment.requested", "assignment", None, None),
            ("conversation.message", "conversation", None, None),
            ("objective.rejected", "objective", Some("Objective sent back: Own objective"), Some("Too vague")),
            ("summary.shared", "summary", Some("Summary shared with you: Own summary"), Some("")),
        ] {
            let notice = notices.iter().find(|row| row["data"]["type"] == kind);
            let notice = &notice.unwrap_or_else(|| panic!("no {kind} in {notices:?}"))["data"];
            assert_eq!((&notice["title"], &notice["body"]), (&json!(title), &json!(body)), "{notice}");
            assert_eq!(
                (&notice["target"]["type"], notice["target"]["id"].is_null()),
                (&json!(target), title.is_none())
            );
            assert!(notice["created_at"].is_string() && notice["read_at"].is_null(), "{notice}");
        }
    }
}

#[tokio::test]
async fn personal_data_tells_nothing_about_other_people() {
    for shared in every_store().await {
        let world = &shared.world;
        let owner = person(world, "joe", "manager", None).await;
        let peer = person(world, "peer", "employee", None).await;
        let key = key_for(world, &owner, AccessLevel::Standard).await;
        let as_owner = async |method: &str, path: &str, body: Value| {
            let response = world.bare(method, path).key(&key).json(&body).send().await;
            assert!(response.status < 300, "{path}: {}", response.text());
            response.json()["id"].as_str().unwrap().to_owned()
        };
        let body = json!({"employee_id": peer, "type": "strength", "observation": "Secret one"});
        let observation = as_owner("POST", "/v1/observations", body).await;
        let path = format!("/v1/observations/{observation}");
        as_owner("PATCH", &path, json!({"observation": "Secret two"})).await;
        let hold = format!("/v1/employees/{owner}/legal-hold");
        assert_eq!(world.ask("PUT", &hold).json(&json!({"reason": "Secret three"})).send().await.status, 200);
        world.patch(&format!("/v1/employees/{owner}"), json!({"job_title": "Lead"})).await;
        let person_lines = lines(world, &owner).await;
        let text = json!(person_lines).to_string();
        for secret in ["Secret", &peer, &observation, "hold"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
        let entry = |action: &str| {
            let is_meant = |row: &&Value| row["data"]["action"] == action;
            person_lines.iter().find(is_meant).map(|row| row["data"].clone()).unwrap()
        };
        let own = entry("observation.update");
        let target = json!({"type": "observation", "id": null});
        assert_eq!(
            (&own["target"], &own["changes"], own["context"]["ip"].is_null()),
            (&target, &json!({}), false)
        );
        let about = entry("employee.update");
        assert_eq!(about["changes"]["job_title"]["to"], "Lead", "{about}");
        assert!(about["context"]["ip"].is_null(), "the address of another caller: {about}");
    }
}
