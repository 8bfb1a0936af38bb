//! Reviews, and writes on behalf of a person (decisions B5, C10).

use candor_domain::access::AccessLevel;
use serde_json::{Value, json};

use super::{assert_denied, assert_refused};
use crate::objectives::{body, key_for, objective, person};
use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

/// Test people: the reporting line boss → joe, an org admin, and an outsider. Each has a standard key.
struct BoundPeople {
    boss: String,
    joe: String,
    admin: String,
    other: String,
    keys: [String; 4],
}

impl BoundPeople {
    async fn gather(world: &TestApi) -> Self {
        let boss = person(world, "boss", "manager", None).await;
        let joe = person(world, "joe", "employee", Some(&boss)).await;
        let admin = person(world, "admin", "org_admin", None).await;
        let other = person(world, "other", "employee", None).await;
        let mut keys = vec![];
        for id in [&boss, &joe, &admin, &other] {
            keys.push(key_for(world, id, AccessLevel::Standard).await);
        }
        Self { boss, joe, admin, other, keys: keys.try_into().unwrap() }
    }
}

async fn post(world: &TestApi, key: &str, path: &str, body: Value) -> TestResponse {
    world.clock.advance_millis(1);
    world.bare("POST", path).key(key).json(&body).send().await
}

async fn reviews(world: &TestApi, setting: &str) {
    let body = json!({"objective_review": setting, "summary_review": setting});
    assert_eq!(world.patch("/v1/organization", body).await.status, 200);
}

#[tokio::test]
async fn owner_decides_nothing_under_required_review() {
    const KIND: (&str, &str) = ("employee-objectives", "employee");
    for shared in every_store().await {
        let world = &shared.world;
        let cast = BoundPeople::gather(world).await;
        let [boss, joe, admin, _] = &cast.keys;
        for (setting, own) in [("required", 403), ("optional", 200)] {
            reviews(world, setting).await;
            for (owner, key, reviewer) in [(&cast.joe, joe, boss), (&cast.admin, admin, &world.admin)] {
                let path = objective(world, KIND, owner).await;
                let submission = post(world, key, &format!("{path}/submit"), json!({})).await;
                assert_eq!(submission.status, 200, "{}", shared.name);
                let steps = [
                    ("reject", json!({"reason": "No"})),
                    ("submit", json!({})),
                    ("approve", json!({})),
                    ("complete", json!({})),
                ];
                for (action, body) in steps {
                    let path = format!("{path}/{action}");
                    let what = format!("{} {setting} {action} {owner}", shared.name);
                    if action == "submit" {
                        assert_eq!(post(world, key, &path, body).await.status, 200, "{what}");
                        continue;
                    }
                    let response = post(world, key, &path, body.clone()).await;
                    assert_eq!(response.status, own, "{what}: {}", response.text());
                    if own == 403 {
                        assert_refused(&response, &what);
                        assert_eq!(post(world, reviewer, &path, body).await.status, 200, "{what}");
                    }
                }
                let path = objective(world, KIND, owner).await;
                for action in ["submit", "approve"] {
                    post(world, &world.admin, &format!("{path}/{action}"), json!({})).await;
                }
                // The owner still starts and pauses the objective.
                for status in ["in_progress", "approved", "in_progress"] {
                    let patch_response =
                        world.bare("PATCH", &path).key(key).json(&json!({"status": status})).send().await;
                    assert_eq!(patch_response.status, 200, "{}: {}", shared.name, patch_response.text());
                }
                let miss_response = post(world, key, &format!("{path}/miss"), json!({})).await;
                assert_eq!(miss_response.status, own, "{} {setting}: {}", shared.name, miss_response.text());
            }
        }
        reviews(world, "required").await;
        let approved_body = |owner: &str| {
            let mut body = body("employee", owner);
            body["status"] = json!("approved");
            body
        };
        let path = "/v1/employee-objectives";
        assert_denied(&post(world, joe, path, approved_body(&cast.joe)).await, shared.name);
        assert_refused(&post(world, admin, path, approved_body(&cast.admin)).await, shared.name);
        assert_eq!(post(world, admin, path, approved_body(&cast.joe)).await.status, 201, "{}", shared.name);
    }
}

#[tokio::test]
async fn objective_of_a_person_not_below_is_refused() {
    for shared in every_store().await {
        let world = &shared.world;
        let cast = BoundPeople::gather(world).await;
        let [boss, joe, admin, other] = &cast.keys;
        for (path, scope) in [("/v1/employee-objectives", "employee"), ("/v1/manager-objectives", "manager")] {
            for key in [joe, other] {
                assert_refused(&post(world, key, path, body(scope, &cast.boss)).await, shared.name);
            }
            for key in [boss, joe, admin] {
                let creation = post(world, key, path, body(scope, &cast.joe)).await;
                assert_eq!(creation.status, 201, "{}: {}", shared.name, creation.text());
            }
            let absent = post(world, joe, path, body(scope, "emp_00000000000000000000000001")).await;
            assert_eq!(absent.status, 422, "{}", shared.name);
        }
    }
}

#[tokio::test]
async fn bound_key_writes_in_no_other_name() {
    for shared in every_store().await {
        let world = &shared.world;
        let cast = BoundPeople::gather(world).await;
        let BoundPeople { boss, joe, admin, other, .. } = &cast;
        for (key, own) in [(&cast.keys[1], joe), (&cast.keys[2], admin)] {
            let talk = json!({"title": "x", "participant_ids": [own, boss]});
            let talk = format!("/v1/conversations/{}/messages", world.made("/v1/conversations", talk).await);
            let assignment_body = json!({"employee_id": other, "title": "x", "reviewer_ids": [own, boss]});
            let submissions =
                format!("/v1/assignments/{}/submissions", world.made("/v1/assignments", assignment_body).await);
            let summary = json!({"employee_id": other, "title": "x"});
            let assignment = json!({"employee_id": other, "title": "x", "reviewer_ids": [boss]});
            let message = json!({"body": "x"});
            let submission = json!({"observations": [{"type": "strength", "observation": "x"}]});
            for (path, field, nulls, body) in [
                ("/v1/summaries", "author_id", true, summary),
                ("/v1/assignments", "requester_id", true, assignment),
                (&*talk, "author_id", false, message),
                (&*submissions, "reviewer_id", false, submission),
            ] {
                let what = format!("{} {path} {own}", shared.name);
                let with = |value: Value| {
                    let mut body = body.clone();
                    body[field] = value;
                    body
                };
                assert_refused(&post(world, key, path, with(json!(boss))).await, &what);
                assert_refused(&post(world, key, path, with(json!("emp_nonsense"))).await, &what);
                let null = post(world, key, path, with(Value::Null)).await;
                assert_eq!(null.status, if nulls { 403 } else { 400 }, "{what}: {}", null.text());
                let creation = post(world, key, path, body.clone()).await;
                assert!(matches!(creation.status, 200 | 201), "{what}: {}", creation.text());
                if field != "reviewer_id" {
                    assert_eq!(creation.json()[field], json!(own), "{what}");
                    assert_eq!(post(world, key, path, with(json!(own))).await.status, 201, "{what}");
                }
                // A key of the organization must name the person that it writes for.
                let response_with_author = post(world, &world.admin, path, with(json!(boss))).await;
                assert!(
                    matches!(response_with_author.status, 200 | 201),
                    "{what}: {}",
                    response_with_author.text()
                );
                let response_without_author = post(world, &world.admin, path, body.clone()).await;
                assert_eq!(
                    response_without_author.status,
                    if nulls { 201 } else { 400 },
                    "{what}: {}",
                    response_without_author.text()
                );
            }
            let body_without_person = json!({"title": "x", "participant_ids": [boss, other]});
            assert_refused(&post(world, key, "/v1/conversations", body_without_person).await, shared.name);
        }
    }
}

#[tokio::test]
async fn summary_is_decided_by_another_person() {
    for shared in every_store().await {
        let world = &shared.world;
        let cast = BoundPeople::gather(world).await;
        let [boss, joe, admin, other] = &cast.keys;
        let create_summary = async |about: &str, author: &str| {
            let body = json!({"employee_id": about, "author_id": author, "title": "x", "body": "x"});
            format!("/v1/summaries/{}", world.made("/v1/summaries", body).await)
        };
        let act = async |key: &str, path: &str, action: &str| {
            let body = if action == "return" { json!({"reason": "No"}) } else { json!({}) };
            post(world, key, &format!("{path}/{action}"), body).await
        };
        for setting in ["optional", "required"] {
            reviews(world, setting).await;
            // Summaries about the caller, written by the caller or by another author. One caller is an org admin.
            for (about, author, key) in
                [(&cast.joe, &cast.joe, joe), (&cast.admin, &cast.admin, admin), (&cast.admin, &cast.other, admin)]
            {
                let path = create_summary(about, author).await;
                for steps in [["submit", "approve"], ["", "return"], ["approve", "share"]] {
                    if !steps[0].is_empty() {
                        assert_eq!(
                            act(&world.admin, &path, steps[0]).await.status,
                            200,
                            "{} {steps:?}",
                            shared.name
                        );
                    }
                    assert_refused(
                        &act(key, &path, steps[1]).await,
                        &format!("{} {setting} {steps:?}", shared.name),
                    );
                }
            }
            let path = create_summary(&cast.joe, &cast.other).await;
            assert_eq!(act(other, &path, "submit").await.status, 200, "{}", shared.name);
            if setting == "required" {
                assert_refused(&act(other, &path, "approve").await, shared.name);
                assert_eq!(act(boss, &path, "approve").await.status, 200, "{}", shared.name);
            } else {
                assert_eq!(act(other, &path, "approve").await.status, 200, "{}", shared.name);
            }
            assert_eq!(act(other, &path, "share").await.status, 200, "{}", shared.name);
            for key in [boss, admin, other] {
                assert_refused(&act(key, &path, "feedback").await, shared.name);
            }
            assert_eq!(act(joe, &path, "feedback").await.status, 200, "{}", shared.name);
            assert_refused(&act(joe, &path, "archive").await, shared.name);
            assert_eq!(act(boss, &path, "archive").await.status, 200, "{}: a manager archives it", shared.name);
        }
    }
}

#[tokio::test]
async fn assignment_is_canceled_by_requester_or_org_admin() {
    for shared in every_store().await {
        let world = &shared.world;
        let cast = BoundPeople::gather(world).await;
        let [boss, joe, admin, other] = &cast.keys;
        let create_assignment = async || {
            let body = json!({"employee_id": cast.other, "requester_id": cast.joe, "title": "x",
                              "reviewer_ids": [cast.boss]});
            format!("/v1/assignments/{}/cancel", world.made("/v1/assignments", body).await)
        };
        let path = create_assignment().await;
        assert_refused(&post(world, boss, &path, json!({})).await, "a reviewer");
        assert_eq!(post(world, other, &path, json!({})).await.status, 404, "{}", shared.name);
        for key in [joe, admin, &world.admin] {
            assert_eq!(
                post(world, key, &create_assignment().await, json!({})).await.status,
                200,
                "{}",
                shared.name
            );
        }
    }
}
