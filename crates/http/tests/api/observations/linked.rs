//! Ids of observations, objectives and summaries inside other resources. A bound key sees only the visible ones
//! (decision B5).

use candor_domain::access::{AccessLevel, Permission};
use serde_json::{Value, json};

use crate::objectives::{body, key_for, person, walk};
use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

/// A manager with a report, resources that only the manager sees, and resources that both see.
struct LinkedResources {
    employee: String,
    manager_key: String,
    employee_key: String,
    hidden: String,
    open: String,
    objective: String,
}

impl LinkedResources {
    async fn new(world: &TestApi) -> Self {
        let manager = person(world, "boss", "manager", None).await;
        let employee = person(world, "ada", "employee", Some(&manager)).await;
        let observe = async |visibility: &str| {
            let body = json!({
                "employee_id": employee, "author_id": manager, "type": "strength", "observation": "Listens.",
                "visibility": visibility,
            });
            world.made("/v1/observations", body).await
        };
        let (hidden, open) = (observe("managers").await, observe("person").await);
        let objective = world.made("/v1/employee-objectives", body("employee", &employee)).await;
        let manager_key = key_for(world, &manager, AccessLevel::Standard).await;
        let employee_key = key_for(world, &employee, AccessLevel::Standard).await;
        Self { employee, manager_key, employee_key, hidden, open, objective }
    }

    /// Creates a summary of the employee that includes both observations, and returns its path.
    async fn summary(&self, world: &TestApi) -> String {
        let body = json!({
            "employee_id": self.employee, "author_id": self.employee, "title": "First half", "body": "Calm.",
            "included_observation_ids": [self.hidden, self.open], "included_objective_ids": [self.objective],
        });
        format!("/v1/summaries/{}", world.made("/v1/summaries", body).await)
    }
}

async fn get(world: &TestApi, key: &str, path: &str) -> TestResponse {
    let response = world.bare("GET", path).key(key).send().await;
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    response
}

async fn patch(world: &TestApi, key: &str, path: &str, body: Value) -> TestResponse {
    world.bare("PATCH", path).key(key).json(&body).send().await
}

#[tokio::test]
async fn summary_shows_only_visible_included_ids() {
    for store in every_store().await {
        let world = &store.world;
        let all = LinkedResources::new(world).await;
        let path = all.summary(world).await;
        let (both, one) = (json!([all.hidden, all.open]), json!([all.open]));
        for (key, shown) in [(&all.manager_key, &both), (&all.employee_key, &one), (&world.admin, &both)] {
            let expanded_summary = get(world, key, &format!("{path}?expand=included_observations")).await.json();
            assert_eq!(&get(world, key, &path).await.json()["included_observation_ids"], shown, "{}", store.name);
            assert_eq!(&expanded_summary["included_observation_ids"], shown, "{}", store.name);
            let inlined_count = expanded_summary["included_observations"].as_array().unwrap().len();
            assert_eq!(inlined_count, shown.as_array().unwrap().len(), "{}", store.name);
            assert_eq!(
                &walk(world, key, "/v1/summaries").await[0]["included_observation_ids"],
                shown,
                "{}",
                store.name
            );
            let rows = walk(world, key, "/v1/search?q=calm&types=summaries").await;
            assert_eq!(&rows[0]["resource"]["included_observation_ids"], shown, "{}", store.name);
            let list_with = |id: &str| format!("/v1/summaries?filter[included_observation_id]={id}");
            assert_eq!(walk(world, key, &list_with(&all.open)).await.len(), 1, "{}", store.name);
            let by_hidden = walk(world, key, &list_with(&all.hidden)).await.len();
            assert_eq!(by_hidden, usize::from(shown == &both), "{}", store.name);
        }
    }
}

#[tokio::test]
async fn summary_patch_keeps_invisible_included_ids() {
    for store in every_store().await {
        let world = &store.world;
        let all = LinkedResources::new(world).await;
        let path = all.summary(world).await;
        let stored_ids = async || world.get(&path).await.json()["included_observation_ids"].clone();
        let read = get(world, &all.employee_key, &path).await;
        let same = patch(world, &all.employee_key, &path, read.json()).await;
        assert_eq!((same.status, same.json()), (200, read.json()), "{}", store.name);
        assert_eq!(same.header("etag"), read.header("etag"), "{}", store.name);
        assert_eq!(stored_ids().await, json!([all.hidden, all.open]), "{}", store.name);
        let patch_response = patch(world, &all.employee_key, &path, json!({"included_observation_ids": []})).await;
        assert_eq!(patch_response.json()["included_observation_ids"], json!([]), "{}", store.name);
        assert_eq!(stored_ids().await, json!([all.hidden]), "{}", store.name);
        let response_to_hidden =
            patch(world, &all.employee_key, &path, json!({"included_observation_ids": [all.hidden]})).await;
        assert_eq!(response_to_hidden.status, 422, "{}: {}", store.name, response_to_hidden.text());
        let absent = json!({"included_observation_ids": ["obs_00000000000000000000000001"]});
        let absent = patch(world, &all.employee_key, &path, absent).await;
        let body_without_value = |answered: &TestResponse| {
            let mut body = answered.without_request_id();
            body["error"]["details"][0]["value"] = Value::Null;
            body
        };
        let text = |answered: &TestResponse, id: &str| body_without_value(answered).to_string().replace(id, "id");
        assert_eq!(
            text(&response_to_hidden, &all.hidden),
            text(&absent, "obs_00000000000000000000000001"),
            "{}: a hidden id is like an absent one",
            store.name
        );
    }
}

#[tokio::test]
async fn summary_etag_changes_with_visible_ids() {
    let world = TestApi::new().await;
    let all = LinkedResources::new(&world).await;
    let path = all.summary(&world).await;
    let tag = async || get(&world, &all.employee_key, &path).await.header("etag").unwrap().to_owned();
    let tag_before = tag().await;
    let observation_path = format!("/v1/observations/{}", all.open);
    assert_eq!(world.patch(&observation_path, json!({"visibility": "managers"})).await.status, 200);
    let tag_after = tag().await;
    assert_ne!(tag_before, tag_after);
    assert_eq!(get(&world, &all.employee_key, &path).await.json()["included_observation_ids"], json!([]));
    assert_eq!(world.patch(&observation_path, json!({"visibility": "person"})).await.status, 200);
    assert_eq!(tag().await, tag_before);
}

#[tokio::test]
async fn objective_links_only_visible_summaries() {
    for store in every_store().await {
        let world = &store.world;
        let all = LinkedResources::new(world).await;
        let body = json!({
            "employee_id": all.employee, "title": "First half", "body": "Calm.",
            "included_objective_ids": [all.objective],
        });
        let summary = world.made("/v1/summaries", body).await;
        let path = format!("/v1/employee-objectives/{}", all.objective);
        let plain_key = world.scoped(&[Permission::ObjectivesRead, Permission::ObjectivesWrite]).await;
        let linked_ids = async |key: &str| get(world, key, &path).await.json()["linked_summary_ids"].clone();
        for (key, links) in [
            (&all.manager_key, json!([summary])),
            (&all.employee_key, json!([])),
            (&world.admin, json!([summary])),
            (&plain_key, json!([])),
        ] {
            assert_eq!(linked_ids(key).await, links, "{}", store.name);
            assert_eq!(
                walk(world, key, "/v1/employee-objectives").await[0]["linked_summary_ids"],
                links,
                "{}",
                store.name
            );
            let read = get(world, key, &path).await.json();
            let second_patch = patch(world, key, &path, read.clone()).await;
            assert_eq!((second_patch.status, second_patch.json()), (200, read), "{}", store.name);
        }
        for action in ["approve", "share"] {
            assert_eq!(world.post(&format!("/v1/summaries/{summary}/{action}"), json!({})).await.status, 200);
        }
        assert_eq!(linked_ids(&all.employee_key).await, json!([summary]), "{}: once it is shared", store.name);
    }
}

#[tokio::test]
async fn assignment_shows_only_visible_observation_ids() {
    for store in every_store().await {
        let world = &store.world;
        let requester = person(world, "requester", "manager", None).await;
        let employee = person(world, "employee", "employee", None).await;
        let reviewers =
            [person(world, "one", "employee", None).await, person(world, "two", "employee", None).await];
        let asks = json!({
            "employee_id": employee, "requester_id": requester, "title": "Before the review",
            "reviewer_ids": reviewers,
        });
        let path = format!("/v1/assignments/{}", world.made("/v1/assignments", asks).await);
        let mut keys = vec![];
        for person in reviewers.iter().chain([&requester]) {
            keys.push(key_for(world, person, AccessLevel::Standard).await);
        }
        for ((reviewer, key), visibility) in reviewers.iter().zip(&keys).zip(["person", "managers"]) {
            let observation = json!({"type": "strength", "observation": "Kept calm.", "visibility": visibility});
            let body = json!({"reviewer_id": reviewer, "observations": [observation]});
            let request = world.bare("POST", &format!("{path}/submissions")).key(key);
            let response = request.json(&body).send().await;
            assert_eq!(response.status, 200, "{}", response.text());
            let own = response.json()["submissions"].as_array().unwrap().iter().any(|submission| {
                submission["reviewer_id"] == json!(reviewer)
                    && submission["observation_ids"].as_array().unwrap().len() == 1
            });
            assert!(own, "{}: the answer shows what was submitted: {}", store.name, response.text());
        }
        for (key, counts) in keys.iter().zip([[1, 0], [0, 1], [1, 0]]) {
            let assignment_json = get(world, key, &path).await.json();
            let ids = |number: usize| {
                assignment_json["submissions"][number]["observation_ids"].as_array().unwrap().len()
            };
            assert_eq!([ids(0), ids(1)], counts, "{}", store.name);
            assert_eq!(assignment_json["submitted_count"], 2, "{}", store.name);
            assert_eq!(walk(world, key, "/v1/assignments").await[0], assignment_json, "{}", store.name);
        }
    }
}

#[tokio::test]
async fn conversation_about_a_hidden_observation_is_refused() {
    for store in every_store().await {
        let world = &store.world;
        let all = LinkedResources::new(world).await;
        let other = person(world, "other", "employee", None).await;
        let about = json!({"type": "observation", "id": all.hidden});
        let body = json!({"title": "Listening", "participant_ids": [all.employee, other], "about": about});
        let path = format!("/v1/conversations/{}", world.made("/v1/conversations", body.clone()).await);
        for (key, shown) in [(&all.employee_key, Value::Null), (&world.admin, about.clone())] {
            let read = get(world, key, &path).await.json();
            assert_eq!(read["about"], shown, "{}", store.name);
            assert_eq!(walk(world, key, "/v1/conversations").await[0]["about"], shown, "{}", store.name);
            let second_patch = patch(world, key, &path, read.clone()).await;
            assert_eq!((second_patch.status, second_patch.json()), (200, read), "{}", store.name);
            let list_path = format!("/v1/conversations?filter[about_id]={}", all.hidden);
            assert_eq!(walk(world, key, &list_path).await.len(), usize::from(!shown.is_null()), "{}", store.name);
        }
        assert_eq!(
            world.get(&path).await.json()["about"],
            about,
            "{}: the stored subject is unchanged",
            store.name
        );
        let response = world.bare("POST", "/v1/conversations").key(&all.employee_key).json(&body).send().await;
        assert_eq!(response.status, 422, "{}: {}", store.name, response.text());
        assert_eq!(response.problems(), [("about.id".to_owned(), "not_found_in_organization".to_owned())]);
    }
}
