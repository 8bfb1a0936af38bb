//! Metadata and external ids (decision D11).

use candor_domain::access::AccessLevel;
use serde_json::{Value, json};

use crate::objectives::{key_for, person};
use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

/// Returns creations for a person without metadata and external id, each as path and body.
fn bodies(person: &str) -> [(&'static str, Value); 5] {
    let objective = json!({
        "owner_id": person, "title": "Answer within a day", "period_start": "2026-04-01",
        "period_end": "2026-06-30",
    });
    [
        ("/v1/observations", json!({"employee_id": person, "type": "strength", "observation": "Listens."})),
        ("/v1/employee-objectives", objective.clone()),
        ("/v1/manager-objectives", objective),
        ("/v1/summaries", json!({"employee_id": person, "title": "First half"})),
        ("/v1/assignments", json!({"employee_id": person, "title": "Review", "reviewer_ids": [person]})),
    ]
}

fn with(body: &Value, more: &Value) -> Value {
    let mut body = body.clone();
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

/// Returns the only detail of a 409.
fn conflict(answered: &TestResponse) -> Value {
    assert_eq!(answered.refusal(), (409, "conflict".to_owned()), "{}", answered.text());
    answered.json()["error"]["details"][0].clone()
}

async fn list_by(world: &TestApi, path: &str, query: &str) -> Vec<Value> {
    let page = world.get(&format!("{path}?{query}")).await.json();
    page["data"].as_array().unwrap_or_else(|| panic!("{page}")).iter().map(|entry| entry["id"].clone()).collect()
}

async fn latest_event(world: &TestApi) -> Value {
    let page = world.get("/v1/events?limit=100").await.json();
    page["data"].as_array().unwrap().last().unwrap().clone()
}

#[tokio::test]
async fn second_create_with_an_external_id_names_the_first() {
    for store in every_store().await {
        let world = &store.world;
        let person = world.employee("ada@example.com").await;
        for (path, body) in bodies(&person) {
            let imported_body = with(&body, &json!({"external_id": format!("crm{path}")}));
            let first = world.made(path, imported_body.clone()).await;
            let expected_conflict = json!({
                "field": "external_id", "current": format!("crm{path}"), "conflicting_id": first,
            });
            assert_eq!(conflict(&world.post(path, imported_body.clone()).await), expected_conflict, "{path}");
            let trial = world.post(&format!("{path}?dry_run=true"), imported_body).await;
            assert_eq!(conflict(&trial), expected_conflict, "{path}");
            let query = format!("filter[external_id]=crm{path}");
            assert_eq!(list_by(world, path, &query).await, [json!(first)], "{path}");
            assert_eq!(list_by(world, path, "filter[external_id]=CRM").await, [] as [Value; 0], "{path}");
            let other = format!("{path}/{}", world.made(path, body).await);
            if !path.ends_with("assignments") {
                let conflict_response = world.patch(&other, json!({"external_id": format!("crm{path}")})).await;
                assert_eq!(conflict(&conflict_response), expected_conflict, "{path}");
                let set = world.patch(&other, json!({"external_id": "own"})).await;
                assert_eq!(set.status == 200, path != "/v1/manager-objectives", "{path}: {}", set.text());
            }
        }
    }
}

#[tokio::test]
async fn metadata_is_merged_filtered_audited_and_in_events() {
    for store in every_store().await {
        let world = &store.world;
        let person = world.employee("ada@example.com").await;
        for (path, body) in bodies(&person) {
            let metadata = json!({"cycle": "2026-h1", "source": "import", "nothing": null});
            let id = world.made(path, with(&body, &json!({"metadata": metadata}))).await;
            let plain = world.made(path, body).await;
            let one = format!("{path}/{id}");
            let resource = world.get(&one).await.json();
            assert_eq!(resource["metadata"], json!({"cycle": "2026-h1", "source": "import"}), "{path}");
            let defaults = world.get(&format!("{path}/{plain}")).await.json();
            assert_eq!((&defaults["metadata"], &defaults["external_id"]), (&json!({}), &json!(null)), "{path}");
            let both = "filter[metadata.cycle]=2026-h1&filter[metadata.source]=import";
            assert_eq!(list_by(world, path, both).await, [json!(id)], "{path}");
            if path.ends_with("assignments") {
                assert_eq!(world.patch(&one, json!({"metadata": {}})).await.status, 405);
                continue;
            }
            world.clock.advance_millis(1);
            let patch_response =
                world.patch(&one, json!({"metadata": {"cycle": "2026-h2", "source": null}})).await;
            let metadata_after = json!({"cycle": "2026-h2"});
            assert_eq!(patch_response.json()["metadata"], metadata_after, "{path}");
            let event = latest_event(world).await;
            assert_eq!(
                (&event["data"]["id"], &event["data"]["metadata"]),
                (&json!(id), &metadata_after),
                "{path}"
            );
            assert!(event["event"].as_str().unwrap().ends_with(".updated"), "{event}");
            let audit_page = world.get(&format!("/v1/audit-log?filter[target_id]={id}&limit=1")).await.json();
            let changes = &audit_page["data"][0]["changes"]["metadata"];
            assert_eq!(*changes, json!({"from": resource["metadata"], "to": metadata_after}), "{path}");
            assert_eq!(list_by(world, path, both).await, [] as [Value; 0], "{path}");
            assert_eq!(list_by(world, path, "filter[metadata.cycle]=2026-h2").await, [json!(id)], "{path}");
            let same = world.patch(&one, json!({"metadata": {"cycle": "2026-h2", "absent": null}})).await;
            assert_eq!(same.json(), patch_response.json(), "{path}: equal metadata change nothing");
            let error_response = world.patch(&one, json!({"metadata": {"cycle": 1}, "external_id": ""})).await;
            let expected_problems = [("external_id", "too_short"), ("metadata.cycle", "invalid_format")];
            let mut problems = error_response.problems();
            problems.sort();
            assert_eq!(
                problems,
                expected_problems.map(|(field, code)| (field.to_owned(), code.to_owned())),
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn conflict_does_not_name_a_hidden_resource() {
    let world = &TestApi::new().await;
    let (ada, bo) = (person(world, "ada", "employee", None).await, person(world, "bo", "employee", None).await);
    let key = key_for(world, &bo, AccessLevel::Standard).await;
    for ((path, hidden), (_, own)) in bodies(&ada).into_iter().zip(bodies(&bo)) {
        let external_id = json!({"external_id": format!("crm{path}")});
        let hidden_resource = world.made(path, with(&hidden, &external_id)).await;
        assert_eq!(
            world.bare("GET", &format!("{path}/{hidden_resource}")).key(&key).send().await.status,
            404,
            "{path}"
        );
        let response = world.bare("POST", path).key(&key).json(&with(&own, &external_id)).send().await;
        let expected_conflict = json!({"field": "external_id", "current": external_id["external_id"]});
        assert_eq!(conflict(&response), expected_conflict, "{path}");
    }
}

#[tokio::test]
async fn external_ids_of_a_submission_are_unique_and_name_the_holder() {
    for store in every_store().await {
        let world = &store.world;
        let (about, reviewer) = (world.employee("a@example.com").await, world.employee("b@example.com").await);
        let asks = json!({"employee_id": about, "title": "Review", "reviewer_ids": [reviewer, about]});
        let path = format!("/v1/assignments/{}/submissions", world.made("/v1/assignments", asks).await);
        let observation = |external_id: &str| {
            json!({"type": "strength", "observation": "Listens.", "external_id": external_id,
                   "metadata": {"cycle": "2026-h1"}})
        };
        let submit = async |reviewer: &str, external_ids: [&str; 2]| {
            let observations = external_ids.map(observation);
            world.post(&path, json!({"reviewer_id": reviewer, "observations": observations})).await
        };
        let response = submit(&reviewer, ["crm-1", "crm-1"]).await;
        let expected_problems = vec![("observations[1].external_id".to_owned(), "invalid_format".to_owned())];
        assert_eq!((response.status, response.problems()), (400, expected_problems));
        assert_eq!(submit(&reviewer, ["crm-1", "crm-2"]).await.status, 200);
        let [holder] = list_by(world, "/v1/observations", "filter[external_id]=crm-2").await.try_into().unwrap();
        let expected_conflict =
            json!({"field": "observations[1].external_id", "current": "crm-2", "conflicting_id": holder});
        assert_eq!(conflict(&submit(&about, ["crm-3", "crm-2"]).await), expected_conflict);
        assert_eq!(list_by(world, "/v1/observations", "filter[metadata.cycle]=2026-h1").await.len(), 2);
    }
}

#[tokio::test]
async fn search_does_not_find_metadata() {
    let world = TestApi::new().await;
    let person = world.employee("ada@example.com").await;
    let more = json!({"metadata": {"cycle": "zebrafish"}, "external_id": "zebrafish"});
    for (path, body) in bodies(&person) {
        if path != "/v1/manager-objectives" {
            world.made(path, with(&body, &more)).await;
        }
    }
    let page = world.get("/v1/search?q=zebrafish&types=observations,objectives,summaries").await.json();
    assert_eq!(page["data"], json!([]));
    let count_with = async |filter: &str| {
        let path = format!("/v1/observations/counts?group_by=type&filter[metadata.cycle]={filter}");
        world.get(&path).await.json()["total"].clone()
    };
    assert_eq!((count_with("zebrafish").await, count_with("zebra").await), (json!(1), json!(0)));
}
