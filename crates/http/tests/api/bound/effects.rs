//! Dry runs and histories show a bound key no id that GET hides from it (decisions A18, B5, C9).

use std::collections::BTreeSet;

use candor_domain::access::AccessLevel;
use serde_json::{Value, json};

use crate::objectives::{key_for, person};
use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

/// Resources that refer to other resources, some of which are hidden from their readers.
struct LinkingResources {
    /// Key of the author of the summary.
    author: String,
    /// Key of the person that the summary is about. The summary is not shared with that person.
    subject: String,
    summary: String,
    objective: String,
    conversation: String,
    assignment: String,
    /// An observation by the author.
    own: String,
    /// Ids of resources that the author or the subject does not see.
    hidden: Vec<String>,
}

impl LinkingResources {
    async fn make(world: &TestApi) -> Self {
        let boss = person(world, "boss", "manager", None).await;
        let subject = person(world, "subject", "employee", Some(&boss)).await;
        let author = person(world, "author", "employee", None).await;
        let other = person(world, "other", "employee", None).await;
        let observation = |by: &str, visibility: &str| {
            json!({"employee_id": subject, "author_id": by, "type": "strength", "observation": "Explains well.",
                   "visibility": visibility})
        };
        let hidden_observation = world.made("/v1/observations", observation(&boss, "managers")).await;
        let own = world.made("/v1/observations", observation(&author, "person")).await;
        let goal = json!({"owner_id": subject, "title": "Answer", "period_start": "2026-01-01",
                          "period_end": "2026-12-31"});
        let objective = world.made("/v1/employee-objectives", goal).await;
        let summary = json!({"employee_id": subject, "author_id": author, "title": "Year", "body": "Good.",
                             "included_objective_ids": [objective], "included_observation_ids": [hidden_observation, own]});
        let summary = world.made("/v1/summaries", summary).await;
        let about = json!({"type": "summary", "id": summary});
        let conversation = json!({"title": "Year", "participant_ids": [subject, author], "about": about});
        let conversation = world.made("/v1/conversations", conversation).await;
        let assignment = json!({"employee_id": subject, "requester_id": boss, "title": "Year",
                               "reviewer_ids": [author, other]});
        let assignment = world.made("/v1/assignments", assignment).await;
        let submission = json!({"reviewer_id": other, "observations": [
            {"type": "strength", "observation": "Listens.", "visibility": "managers"}]});
        let submission_response =
            world.post(&format!("/v1/assignments/{assignment}/submissions"), submission).await;
        assert_eq!(submission_response.status, 200, "{}", submission_response.text());
        let assignment_json = world.get(&format!("/v1/assignments/{assignment}")).await.json();
        let of_other = assignment_json["submissions"][1]["observation_ids"][0].as_str().unwrap().to_owned();
        Self {
            author: key_for(world, &author, AccessLevel::Standard).await,
            subject: key_for(world, &subject, AccessLevel::Standard).await,
            hidden: vec![hidden_observation, objective.clone(), summary.clone(), of_other],
            summary,
            objective,
            conversation,
            assignment,
            own,
        }
    }
}

/// Returns the ids in a response that belong to resources with restricted visibility.
fn linked_ids(response: &Value) -> BTreeSet<String> {
    const PREFIXES: [&str; 4] = ["obs_", "obj_", "sum_", "asg_"];
    match response {
        Value::String(text) if PREFIXES.iter().any(|prefix| text.starts_with(prefix)) => [text.clone()].into(),
        Value::Array(items) => items.iter().flat_map(linked_ids).collect(),
        Value::Object(members) => members.values().flat_map(linked_ids).collect(),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => BTreeSet::new(),
    }
}

async fn sees(world: &TestApi, key: &str, id: &str) -> bool {
    let family = match id.split_once('_') {
        Some(("obs", _)) => "observations",
        Some(("obj", _)) => "employee-objectives",
        Some(("sum", _)) => "summaries",
        _ => "assignments",
    };
    world.bare("GET", &format!("/v1/{family}/{id}")).key(key).send().await.status == 200
}

async fn assert_shows_no_hidden_id(world: &TestApi, key: &str, response: &TestResponse, what: &str) {
    assert_eq!(response.status, 200, "{what}: {}", response.text());
    for id in linked_ids(&response.json()) {
        assert!(sees(world, key, &id).await, "{what} shows {id}: {}", response.text());
    }
}

async fn assert_history_shows_no_hidden_id(world: &TestApi, key: &str, path: &str) {
    let history = world.bare("GET", &format!("{path}/history")).key(key).send().await;
    assert_shows_no_hidden_id(world, key, &history, &format!("the history of {path}")).await;
    assert!(!history.json()["data"].as_array().unwrap().is_empty(), "{}", history.text());
}

#[tokio::test]
async fn dry_runs_and_histories_show_no_id_that_get_hides() {
    for shared in every_store().await {
        let world = &shared.world;
        let linked_resources = LinkingResources::make(world).await;
        let mut hidden_count = 0;
        for (key, id) in [&linked_resources.author, &linked_resources.subject]
            .into_iter()
            .flat_map(|key| linked_resources.hidden.iter().map(move |id| (key, id)))
        {
            hidden_count += usize::from(!sees(world, key, id).await);
        }
        assert_eq!(hidden_count, 6, "the test needs ids that the author or the subject does not see");
        let summary = format!("/v1/summaries/{}", linked_resources.summary);
        let objective = format!("/v1/employee-objectives/{}", linked_resources.objective);
        let conversation = format!("/v1/conversations/{}", linked_resources.conversation);
        let (submit, archive) = (format!("{summary}/submit"), format!("{summary}/archive"));
        let submissions = format!("/v1/assignments/{}/submissions", linked_resources.assignment);
        let submission = json!({"observations": [{"type": "strength", "observation": "Plans."}]});
        let writes = [
            ("PATCH", &summary, &linked_resources.author, json!({"title": "Other"})),
            (
                "PATCH",
                &summary,
                &linked_resources.author,
                json!({"included_observation_ids": [linked_resources.own]}),
            ),
            (
                "PATCH",
                &summary,
                &linked_resources.author,
                json!({"included_observation_ids": [], "included_objective_ids": []}),
            ),
            ("POST", &submit, &linked_resources.author, json!({})),
            ("POST", &archive, &linked_resources.author, json!({})),
            ("POST", &submissions, &linked_resources.author, submission),
            ("PATCH", &conversation, &linked_resources.subject, json!({"title": "Other"})),
            ("PATCH", &objective, &linked_resources.subject, json!({"title": "Other"})),
            ("POST", &format!("{objective}/submit"), &linked_resources.subject, json!({})),
            ("POST", &format!("{objective}/archive"), &linked_resources.subject, json!({})),
        ];
        for (method, path, key, body) in &writes {
            let what = format!("{method} {path} on {}", shared.name);
            let request = world.bare(method, &format!("{path}?dry_run=true")).key(key).json(body);
            assert_shows_no_hidden_id(world, key, &request.send().await, &what).await;
        }
        for path in [&objective, &format!("{objective}/submit")] {
            let method = if path == &objective { "PATCH" } else { "POST" };
            let response = world.bare(method, path).key(&linked_resources.subject).json(&json!({})).send().await;
            assert_eq!(response.status, 200, "{}", response.text());
        }
        assert_history_shows_no_hidden_id(world, &linked_resources.subject, &objective).await;
        assert_history_shows_no_hidden_id(world, &linked_resources.author, &summary).await;
        let all =
            world.ask("PATCH", &format!("{summary}?dry_run=true")).json(&json!({"included_observation_ids": []}));
        let changes = all.send().await.json()["changes"].clone();
        assert_eq!(changes["included_observation_ids"]["from"].as_array().unwrap().len(), 2, "{changes}");
    }
}
