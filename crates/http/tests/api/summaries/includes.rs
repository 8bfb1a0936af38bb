//! Resources in summaries: links from objectives, and added or removed observations (decision G).

use candor_domain::access::{AccessLevel, Permission};
use serde_json::{Value, json};

use super::{body, employee_and_boss, member, objective, observation, perform, summary};
use crate::objectives::{Feed, key_for, person};
use crate::stores::every_store;
use crate::support::TestApi;

fn including(employee: &str, objectives: &[&str], observations: &[&str]) -> Value {
    let mut body = body(employee);
    (body["included_objective_ids"], body["included_observation_ids"]) = (json!(objectives), json!(observations));
    body
}

fn id(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

/// Returns `true` if `tag` still matches the resource, so that its `ETag` is unchanged.
async fn is_unchanged(world: &TestApi, path: &str, tag: &str) -> bool {
    world.ask("GET", path).header("if-none-match", tag).send().await.status == 304
}

#[tokio::test]
async fn objective_links_its_unarchived_summaries() {
    for shared in every_store().await {
        let world = &shared.world;
        let (employee, _) = employee_and_boss(world).await;
        let goal = objective(world, &employee).await;
        let path = format!("/v1/employee-objectives/{goal}");
        let response_before = world.get(&path).await;
        let mut feed = Feed::from_now(world).await;
        let one = summary(world, including(&employee, &[&goal], &[])).await;
        let two = summary(world, including(&employee, &[&goal], &[])).await;
        assert_eq!(
            member(world, &path, "linked_summary_ids").await,
            json!([id(&one), id(&two)]),
            "{}",
            shared.name
        );
        let tag = response_before.header("etag").unwrap();
        assert!(!is_unchanged(world, &path, tag).await, "{}: the ETag covers the links", shared.name);
        let response_after = world.get(&path).await;
        assert!(is_unchanged(world, &path, response_after.header("etag").unwrap()).await);
        let list_entry = world.get("/v1/employee-objectives").await.json()["data"][0].clone();
        assert_eq!(list_entry, response_after.json(), "{}", shared.name);
        assert_eq!(
            response_after.json()["updated_at"],
            response_before.json()["updated_at"],
            "a link is no change of the objective"
        );
        assert_eq!(feed.all("objective.").await, [Value::Null; 0]);
        let patch_response =
            world.ask("PATCH", &path).header("if-match", tag).json(&json!({"title": "Other"})).send().await;
        assert_eq!(
            (patch_response.status, &patch_response.json()["linked_summary_ids"]),
            (200, &json!([id(&one), id(&two)]))
        );
        // Keys without `summaries:read` may read the event, too.
        let mut wanted_data = world.get(&path).await.json();
        assert_ne!(wanted_data["linked_summary_ids"], json!([]));
        wanted_data["linked_summary_ids"] = json!([]);
        assert_eq!(feed.all("objective.").await[0]["data"], wanted_data);
        perform(world, &one, &["approve", "archive"]).await;
        assert_eq!(member(world, &path, "linked_summary_ids").await, json!([id(&two)]));
        assert_eq!(world.patch(&two, json!({"included_objective_ids": []})).await.status, 200);
        assert_eq!(world.get(&path).await.json()["linked_summary_ids"], json!([]));
    }
}

#[tokio::test]
async fn archived_observation_leaves_drafts_not_approved_summaries() {
    for instance in every_store().await {
        let world = &instance.world;
        let (employee, _) = employee_and_boss(world).await;
        let (kept, gone) = (observation(world, &employee).await, observation(world, &employee).await);
        let body = || including(&employee, &[], &[&gone, &kept]);
        let (draft, review) = (summary(world, body()).await, summary(world, body()).await);
        let (approved, shared) = (summary(world, body()).await, summary(world, body()).await);
        perform(world, &review, &["submit"]).await;
        perform(world, &approved, &["approve"]).await;
        perform(world, &shared, &["approve", "share"]).await;
        let tag = world.get(&draft).await.header("etag").unwrap().to_owned();
        let act_on_observation = async |action: &str| {
            assert_eq!(world.post(&format!("/v1/observations/{gone}/{action}"), json!({})).await.status, 200);
        };
        act_on_observation("archive").await;
        let shows = async |path: &str| member(world, path, "included_observation_ids").await;
        for path in [&draft, &review] {
            assert_eq!(shows(path).await, json!([kept]), "{}", instance.name);
            let expanded_summary = world.get(&format!("{path}?expand=included_observations")).await.json();
            assert_eq!(expanded_summary["included_observations"].as_array().unwrap().len(), 1);
        }
        for path in [&approved, &shared] {
            assert_eq!(shows(path).await, json!([gone, kept]), "{}", instance.name);
        }
        assert!(!is_unchanged(world, &draft, &tag).await);
        act_on_observation("restore").await;
        assert_eq!(shows(&draft).await, json!([gone, kept]), "{}: it is shown again", instance.name);
        assert!(is_unchanged(world, &draft, &tag).await);
        act_on_observation("archive").await;
        perform(world, &draft, &["approve"]).await;
        act_on_observation("restore").await;
        assert_eq!(shows(&draft).await, json!([kept]), "{}: an approved summary does not change", instance.name);
        act_on_observation("archive").await;
        perform(world, &approved, &["return"]).await;
        assert_eq!(shows(&approved).await, json!([kept]), "{}: the summary is a draft again", instance.name);
        let round = world.get(&review).await.json();
        let patch_response = world.patch(&review, round.clone()).await;
        assert_eq!(
            (patch_response.status, patch_response.json()),
            (200, round),
            "the body of a read is accepted as a change"
        );
        let second_patch = world.patch(&review, json!({"included_observation_ids": [kept, gone]})).await;
        assert_eq!(second_patch.problems(), [("included_observation_ids".to_owned(), "invalid_state".to_owned())]);
    }
}

#[tokio::test]
async fn summary_references_are_expanded_with_their_scopes() {
    let world = TestApi::new().await;
    let (employee, boss) = employee_and_boss(&world).await;
    let (goal, noted) = (objective(&world, &employee).await, observation(&world, &employee).await);
    let mut body = including(&employee, &[&goal], &[&noted]);
    body["author_id"] = json!(boss);
    let path = summary(&world, body).await;
    let plain = world.get(&path).await.json();
    let members = [
        ("employee", world.get(&format!("/v1/employees/{employee}")).await.json()),
        ("author", world.get(&format!("/v1/employees/{boss}")).await.json()),
        ("included_objectives", json!([world.get(&format!("/v1/employee-objectives/{goal}")).await.json()])),
        ("included_observations", json!([world.get(&format!("/v1/observations/{noted}")).await.json()])),
    ];
    for (count, last) in members.iter().enumerate() {
        let mut expected_summary = plain.clone();
        members[..=count].iter().for_each(|(name, value)| expected_summary[*name] = value.clone());
        let expand = members[..=count].iter().map(|member| member.0).collect::<Vec<_>>().join(",");
        assert_eq!(world.get(&format!("{path}?expand={expand}")).await.json(), expected_summary, "{}", last.0);
        assert_eq!(
            world.get(&format!("/v1/summaries?expand={expand}")).await.json()["data"],
            json!([expected_summary])
        );
    }
    let nobodys = summary(&world, super::body(&employee)).await;
    let expanded_summary = world.get(&format!("{nobodys}?expand=author,included_objectives")).await.json();
    assert_eq!(
        (&expanded_summary["author"], &expanded_summary["included_objectives"]),
        (&Value::Null, &json!([]))
    );
    let objective_path = format!("/v1/employee-objectives/{goal}?expand=linked_summaries");
    assert_eq!(world.get(&objective_path).await.json()["linked_summaries"], json!([plain]));
    let page = world.get("/v1/employee-objectives?expand=linked_summaries,owner").await.json();
    assert_eq!(page["data"][0]["linked_summaries"], json!([plain]));
    let key = world.scoped(&[Permission::SummariesRead]).await;
    for (expand, scope) in [
        ("employee", "employees:read"),
        ("author", "employees:read"),
        ("included_objectives", "objectives:read"),
        ("included_observations", "observations:read"),
    ] {
        for path in [&path, "/v1/summaries"] {
            let response = world.bare("GET", &format!("{path}?expand={expand}")).key(&key).send().await;
            assert_eq!(response.json()["error"]["details"], json!([{"required_scope": scope}]));
        }
    }
}

#[tokio::test]
async fn invisible_resource_is_neither_expanded_nor_includable() {
    for shared in every_store().await {
        let world = &shared.world;
        let (employee, boss) = employee_and_boss(world).await;
        let stranger = person(world, "stranger", "employee", None).await;
        let (own, foreign) = (objective(world, &employee).await, objective(world, &stranger).await);
        let path = summary(world, including(&employee, &[&own, &foreign], &[])).await;
        let hidden_summary = summary(world, including(&stranger, &[&own], &[])).await;
        let key = key_for(world, &boss, AccessLevel::Standard).await;
        let got = async |path: String| world.bare("GET", &path).key(&key).send().await.json();
        let expanded_summary = got(format!("{path}?expand=included_objectives")).await;
        assert_eq!(expanded_summary["included_objectives"].as_array().unwrap().len(), 1, "{}", shared.name);
        assert_eq!(expanded_summary["included_objectives"][0]["id"], json!(own));
        let expanded_objective = got(format!("/v1/employee-objectives/{own}?expand=linked_summaries")).await;
        assert_eq!(expanded_objective["linked_summary_ids"], json!([id(&path)]), "{}", shared.name);
        let all = world.get(&format!("/v1/employee-objectives/{own}")).await.json()["linked_summary_ids"].clone();
        assert_eq!(all, json!([id(&path), id(&hidden_summary)]), "{}", shared.name);
        assert_eq!(expanded_objective["linked_summaries"].as_array().unwrap().len(), 1, "{}", shared.name);
        assert_eq!(expanded_objective["linked_summaries"][0]["id"], json!(id(&path)));
        for objective in [&own, &foreign] {
            let body = including(&employee, &[objective], &[]);
            let creation = world.bare("POST", "/v1/summaries").key(&key).json(&body).send().await;
            assert_eq!(
                creation.status,
                if *objective == own { 201 } else { 422 },
                "{}: {}",
                shared.name,
                creation.text()
            );
        }
    }
}
