//! Validation of summary bodies, field by field.

use serde_json::{Value, json};

use super::{body, employee_and_boss, objective, observation, perform, summary};
use crate::objectives::person;
use crate::support::TestApi;

fn with(mut body: Value, name: &str, value: Value) -> Value {
    body[name] = value;
    body
}

#[tokio::test]
async fn invalid_summary_field_is_named_on_create_and_update() {
    let world = TestApi::new().await;
    let (employee, boss) = employee_and_boss(&world).await;
    let path = summary(&world, body(&employee)).await;
    let many = |count: usize| json!((0..count).map(|number| number.to_string()).collect::<Vec<_>>());
    let table = [
        ("title", json!(null), "required"),
        ("title", json!(7), "invalid_format"),
        ("title", json!(" "), "too_short"),
        ("title", json!("x".repeat(201)), "too_long"),
        ("title", json!("a\u{0}b"), "invalid_format"),
        ("body", json!(null), "required"),
        ("body", json!(["x"]), "invalid_format"),
        ("body", json!("é".repeat(20_001)), "too_long"),
        ("period_end", json!("2026-02-30"), "invalid_format"),
        ("period_start", json!("2026-01-01T00:00:00Z"), "invalid_format"),
        ("included_objective_ids", json!(null), "required"),
        ("included_objective_ids", json!("obj_1"), "invalid_format"),
        ("included_objective_ids", json!([1]), "invalid_format"),
        ("included_objective_ids", json!(["a", "a"]), "invalid_format"),
        ("included_objective_ids", many(101), "too_long"),
        ("included_observation_ids", json!(null), "required"),
        ("included_observation_ids", json!([null]), "invalid_format"),
        ("included_observation_ids", many(201), "too_long"),
        ("status", json!("approved"), "read_only"),
        ("employee_feedback", json!({"comment": "x"}), "read_only"),
        ("shared_at", json!("2026-01-01T00:00:00Z"), "read_only"),
        ("id", json!("sum_1"), "read_only"),
        ("review", json!(true), "unknown_field"),
    ];
    for (name, value, code) in &table {
        let problems = vec![((*name).to_owned(), (*code).to_owned())];
        let creation = world.post("/v1/summaries", with(body(&employee), name, value.clone())).await;
        assert_eq!((creation.status, creation.problems()), (400, problems.clone()), "create {name} {value:.40}");
        let change = world.patch(&path, with(json!({}), name, value.clone())).await;
        assert_eq!((change.status, change.problems()), (400, problems), "change {name} {value:.40}");
    }
    for (name, value) in [("employee_id", json!(boss)), ("author_id", json!(boss))] {
        let second = world.patch(&path, with(json!({}), name, value)).await;
        assert_eq!((second.status, second.problems()), (400, vec![(name.to_owned(), "read_only".to_owned())]));
    }
    let none = world.post("/v1/summaries", json!({})).await;
    let missing = |name: &str| (name.to_owned(), "required".to_owned());
    assert_eq!((none.status, none.problems()), (400, vec![missing("employee_id"), missing("title")]));
    for (period, field, code) in [
        (json!({"period_start": "2026-01-02", "period_end": "2026-01-01"}), "period_end", "out_of_range"),
        (json!({"period_start": "2026-01-02"}), "period_end", "required"),
        (json!({"period_end": "2026-01-02"}), "period_start", "required"),
    ] {
        let mut wrong = body(&employee);
        wrong.as_object_mut().unwrap().extend(period.as_object().unwrap().clone());
        let problems = vec![(field.to_owned(), code.to_owned())];
        assert_eq!(world.post("/v1/summaries", wrong).await.problems(), problems, "{period}");
        assert_eq!(world.patch(&path, period.clone()).await.problems(), problems, "{period}");
    }
    assert_eq!(world.get(&path).await.json()["title"], "First half");
}

#[tokio::test]
async fn summary_action_bodies_are_read_and_unknown_members_refused() {
    let world = TestApi::new().await;
    let (employee, _) = employee_and_boss(&world).await;
    let path = summary(&world, body(&employee)).await;
    let problems = async |action: &str, body: Value| {
        let response = world.post(&format!("{path}/{action}"), body).await;
        (response.status, response.problems())
    };
    let one = |field: &str, code: &str| (400, vec![(field.to_owned(), code.to_owned())]);
    for action in ["submit", "approve", "share", "archive"] {
        assert_eq!(problems(action, json!({"comment": "x"})).await, one("comment", "unknown_field"), "{action}");
    }
    for (body, code) in [
        (json!({}), "required"),
        (json!({"reason": null}), "required"),
        (json!({"reason": " "}), "too_short"),
        (json!({"reason": "x".repeat(2001)}), "too_long"),
        (json!({"reason": 1}), "invalid_format"),
    ] {
        assert_eq!(problems("return", body).await, one("reason", code));
    }
    assert_eq!(problems("feedback", json!({"comment": "x".repeat(2001)})).await, one("comment", "too_long"));
    assert_eq!(problems("feedback", json!({"acknowledged": "yes"})).await, one("acknowledged", "invalid_format"));
    assert_eq!(problems("feedback", json!({"acknowledged": null})).await, one("acknowledged", "required"));
    perform(&world, &path, &["approve", "share"]).await;
    let empty = world.ask("POST", &format!("{path}/feedback")).send().await;
    let feedback = empty.json()["employee_feedback"].clone();
    assert_eq!(
        (empty.status, &feedback["comment"], &feedback["acknowledged"]),
        (200, &json!(null), &json!(false))
    );
}

#[tokio::test]
async fn summary_inclusion_is_refused_with_its_reason() {
    let world = TestApi::new().await;
    let (employee, boss) = employee_and_boss(&world).await;
    let pending = json!({"email": "p@example.com", "first_name": "P", "last_name": "E", "send_invite": true});
    let pending = world.made("/v1/employees", pending).await;
    assert_eq!(
        world.post("/v1/summaries", body(&pending)).await.status,
        201,
        "the subject may be an invited person"
    );
    let (own, others, gone) = (
        observation(&world, &employee).await,
        observation(&world, &boss).await,
        observation(&world, &employee).await,
    );
    let goal = objective(&world, &boss).await;
    assert_eq!(world.post(&format!("/v1/observations/{gone}/archive"), json!({})).await.status, 200);
    let wrong = json!({
        "employee_id": employee, "title": "x", "author_id": "emp_1",
        "included_objective_ids": [goal, own, "nonsense"], "included_observation_ids": [own, others, gone, goal],
    });
    let response = world.post("/v1/summaries", wrong).await;
    let (objectives, observations) = ("included_objective_ids", "included_observation_ids");
    let codes = [
        ("author_id", "not_found_in_organization"),
        (objectives, "not_found_in_organization"),
        (objectives, "not_found_in_organization"),
        (observations, "invalid_state"),
        (observations, "invalid_state"),
        (observations, "not_found_in_organization"),
    ];
    let problems: Vec<_> = codes.iter().map(|(field, code)| ((*field).to_owned(), (*code).to_owned())).collect();
    assert_eq!((response.status, response.problems()), (422, problems));
    assert_eq!(response.json()["error"]["details"][2]["value"], "nonsense");
    let path = summary(&world, body(&employee)).await;
    for id in [&others, &gone] {
        let change = world.patch(&path, json!({"included_observation_ids": [own, id]})).await;
        assert_eq!(change.problems(), [(observations.to_owned(), "invalid_state".to_owned())]);
    }
    let many = person(&world, "many", "employee", None).await;
    let mut goals = vec![];
    for _ in 0..100 {
        goals.push(objective(&world, &boss).await);
    }
    let full = with(body(&many), objectives, json!(goals));
    assert_eq!(world.post("/v1/summaries", full).await.status, 201, "the objectives may be those of other people");
}
