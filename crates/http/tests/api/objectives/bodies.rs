//! Bodies of creations, updates and actions on objectives, and the order of checks (decisions A7, A13, C4 to
//! C10).

use candor_domain::access::{AccessLevel, Environment, Permissions};
use serde_json::{Value, json};

use super::{KINDS, ask, body, objective, person, review};
use crate::support::TestApi;

fn with(mut body: Value, changes: Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

#[tokio::test]
async fn objective_scope_must_match_its_resource() {
    let world = TestApi::new().await;
    let owner = person(&world, "owner", "org_admin", None).await;
    for (resource, scope, wanted) in [
        ("employee-objectives", None, Ok("employee")),
        ("employee-objectives", Some("employee"), Ok("employee")),
        ("employee-objectives", Some("manager"), Err("invalid_enum")),
        ("employee-objectives", Some("org"), Err("invalid_enum")),
        ("manager-objectives", None, Ok("manager")),
        ("manager-objectives", Some("manager"), Ok("manager")),
        ("manager-objectives", Some("org"), Ok("org")),
        ("manager-objectives", Some("employee"), Err("invalid_enum")),
    ] {
        let mut body = body("", &owner);
        match scope {
            Some(scope) => body["scope"] = json!(scope),
            None => drop(body.as_object_mut().unwrap().remove("scope")),
        }
        let response = world.post(&format!("/v1/{resource}"), body).await;
        match wanted {
            Ok(scope) => assert_eq!((response.status, &response.json()["scope"]), (201, &json!(scope))),
            Err(code) => assert_eq!(response.problems(), [("scope".to_owned(), code.to_owned())]),
        }
    }
}

#[tokio::test]
async fn invalid_objective_fields_are_each_named_on_creation() {
    let world = TestApi::new().await;
    let owner = person(&world, "owner", "employee", None).await;
    let title = "é".repeat(200);
    for (changes, problems) in [
        (json!({"title": title, "description": "👍".repeat(4000), "period_end": "2026-04-01"}), vec![]),
        (json!({"title": format!("{title}é")}), vec![("title", "too_long")]),
        (json!({"title": " "}), vec![("title", "too_short")]),
        (json!({"title": null}), vec![("title", "required")]),
        (json!({"description": "é".repeat(4001)}), vec![("description", "too_long")]),
        (json!({"period_end": "2026-03-31"}), vec![("period_end", "out_of_range")]),
        (json!({"period_start": "2026-02-30"}), vec![("period_start", "invalid_format")]),
        (json!({"owner_id": 7}), vec![("owner_id", "invalid_format")]),
        (json!({"status": "archived"}), vec![("status", "invalid_enum")]),
        (json!({"status": "completed"}), vec![("status", "invalid_enum")]),
        (json!({"status": "missed"}), vec![("status", "invalid_enum")]),
        (json!({"submitted_at": null}), vec![("submitted_at", "read_only")]),
        (json!({"linked_summary_ids": []}), vec![("linked_summary_ids", "read_only")]),
        (json!({"priority": 1}), vec![("priority", "unknown_field")]),
    ] {
        let response =
            world.post("/v1/employee-objectives", with(body("employee", &owner), changes.clone())).await;
        let expected_problems: Vec<_> =
            problems.into_iter().map(|(field, code)| (field.to_owned(), code.to_owned())).collect();
        assert_eq!(response.status, if expected_problems.is_empty() { 201 } else { 400 }, "{changes}");
        if response.status == 400 {
            assert_eq!(response.problems(), expected_problems, "{changes}");
        }
    }
}

#[tokio::test]
async fn objective_creation_checks_fields_then_level_then_owner() {
    let world = TestApi::new().await;
    let admin = person(&world, "admin", "org_admin", None).await;
    let plain = person(&world, "plain", "manager", None).await;
    let standard = world.key(Permissions::ALL, AccessLevel::Standard, Environment::Live).await;
    let nobody = "emp_00000000000000000000000001";
    for (key, owner, title, status) in [
        (&standard, nobody, "", 400),
        (&standard, nobody, "x", 403),
        (&standard, admin.as_str(), "x", 403),
        (&world.admin, plain.as_str(), "x", 403),
        (&world.admin, nobody, "x", 422),
        (&world.admin, "nonsense", "x", 422),
        (&world.admin, admin.as_str(), "x", 201),
    ] {
        let body = with(body("org", owner), json!({"title": title}));
        let response = world.bare("POST", "/v1/manager-objectives").key(key).json(&body).send().await;
        assert_eq!(response.status, status, "{owner} {title}: {}", response.text());
        if status == 422 {
            assert_eq!(response.problems(), [("owner_id".to_owned(), "not_found_in_organization".to_owned())]);
        }
    }
}

#[tokio::test]
async fn skipping_a_required_review_needs_an_admin_level_key() {
    let world = TestApi::new().await;
    let owner = person(&world, "owner", "employee", None).await;
    let standard = world.key(Permissions::ALL, AccessLevel::Standard, Environment::Live).await;
    for setting in ["optional", "required", "disabled"] {
        review(&world, setting).await;
        for status in ["proposed", "approved", "in_progress"] {
            let body = with(body("employee", &owner), json!({"status": status}));
            let make = async |key: &str| {
                let response = world.bare("POST", "/v1/employee-objectives").key(key).json(&body).send().await;
                (response.status, response.json())
            };
            let (code, made) = make(&world.admin).await;
            assert_eq!((code, &made["status"]), (201, &json!(status)));
            let approved_at = if status == "proposed" { &Value::Null } else { &made["created_at"] };
            assert_eq!(&made["approved_at"], approved_at, "{status}");
            let is_refused = setting == "required" && status != "proposed";
            assert_eq!(make(&standard).await.0, if is_refused { 403 } else { 201 }, "{setting} {status}");
        }
    }
}

#[tokio::test]
async fn objective_read_back_is_accepted_and_fixed_fields_refuse() {
    let world = TestApi::new().await;
    let owner = person(&world, "owner", "org_admin", None).await;
    for kind in KINDS {
        let path = objective(&world, kind, &owner).await;
        let read = world.get(&path).await;
        world.clock.advance_millis(5);
        let unchanged_response = world.patch(&path, read.json()).await;
        assert_eq!(
            (unchanged_response.status, unchanged_response.json(), unchanged_response.header("etag")),
            (200, read.json(), read.header("etag"))
        );
        for (field, value) in [("scope", "team"), ("owner_id", "emp_x"), ("id", "obj_x"), ("approved_at", "now")] {
            let response = world.patch(&path, json!({field: value})).await;
            assert_eq!(
                (response.status, response.problems()),
                (400, vec![(field.to_owned(), "read_only".to_owned())])
            );
        }
        for (changes, field, code) in [
            (json!({"title": null}), "title", "required"),
            (json!({"period_start": "2026-07-01"}), "period_end", "out_of_range"),
            (json!({"status": "begun"}), "status", "invalid_enum"),
            (json!({"status": null}), "status", "required"),
        ] {
            let response = world.patch(&path, changes).await;
            assert_eq!((response.status, response.problems()), (400, vec![(field.to_owned(), code.to_owned())]));
        }
        assert_eq!(world.patch(&path, json!({"description": null})).await.json(), read.json());
    }
}

#[tokio::test]
async fn objective_action_accepts_only_its_own_remark() {
    let world = TestApi::new().await;
    let owner = person(&world, "owner", "employee", None).await;
    let long = "é".repeat(2001);
    for (action, body, status, problem) in [
        ("submit", json!({"comment": "x"}), 400, ("comment", "unknown_field")),
        ("archive", json!({"reason": "x"}), 400, ("reason", "unknown_field")),
        ("approve", json!({"comment": long}), 400, ("comment", "too_long")),
        ("approve", json!({"comment": 7}), 400, ("comment", "invalid_format")),
        ("approve", json!({"reason": "x"}), 400, ("reason", "unknown_field")),
        ("reject", json!({}), 400, ("reason", "required")),
        ("reject", json!({"reason": null}), 400, ("reason", "required")),
        ("reject", json!({"reason": ""}), 400, ("reason", "too_short")),
        ("reject", json!({"reason": long}), 400, ("reason", "too_long")),
        ("complete", json!({"outcome": long}), 400, ("outcome", "too_long")),
        ("miss", json!({"reason": long}), 400, ("reason", "too_long")),
        ("approve", json!({"comment": "é".repeat(2000)}), 200, ("", "")),
    ] {
        let path = objective(&world, KINDS[0], &owner).await;
        let response = world.post(&format!("{path}/{action}"), body.clone()).await;
        assert_eq!(response.status, status, "{action} {body}");
        if status == 400 {
            assert_eq!(response.problems(), [(problem.0.to_owned(), problem.1.to_owned())], "{action} {body}");
        }
    }
    // Invalid fields are reported before a conflict with the state. Only `reject` requires a field, so without a
    // body it is the only invalid request.
    let path = objective(&world, KINDS[0], &owner).await;
    assert_eq!(ask(&world, &world.admin, &path, "archive").await.status, 200);
    assert_eq!(world.post(&format!("{path}/reject"), json!({})).await.status, 400);
    for (action, status) in [("approve", 409), ("complete", 409), ("miss", 409), ("reject", 400)] {
        assert_eq!(world.ask("POST", &format!("{path}/{action}")).send().await.status, status, "{action}");
    }
}
