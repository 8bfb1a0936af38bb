//! A legal hold keeps evidence when another person is erased. The erasure continues when the hold ends (decisions H3,
//! H4).

use candor_domain::access::Permission;
use candor_service::runtime::{erasure, search_index};
use serde_json::{Value, json};

use crate::objectives::person;
use crate::stores::every_store;
use crate::support::TestApi;

const BOTH: &str = "Harassing words to the held person.";
const PLAIN: &str = "Words that concern no hold.";

/// Resources about a person who leaves: some involve a held person, the others do not.
struct Evidence {
    held: String,
    other: String,
    leaving: String,
    /// Paths of the resources that involve the held person.
    stay: Vec<String>,
    /// Paths of the other resources.
    go: Vec<String>,
    /// Paths of the conversation with the held person and of the one with another person.
    talks: [String; 2],
}

impl Evidence {
    async fn make(world: &TestApi) -> Self {
        let held_person = person(world, "held", "employee", None).await;
        let other = person(world, "other", "employee", None).await;
        let leaving = person(world, "leaving", "employee", None).await;
        let put = json!({"reason": "Lawsuit"});
        let set = world.ask("PUT", &format!("/v1/employees/{held_person}/legal-hold")).json(&put).send().await;
        assert_eq!(set.status, 200);
        let (mut stay, mut go, mut talks) = (vec![], vec![], vec![]);
        for (with, text, paths) in [(&held_person, BOTH, &mut stay), (&other, PLAIN, &mut go)] {
            let observation =
                json!({"employee_id": leaving, "author_id": with, "type": "strength", "observation": text});
            let summary = json!({"employee_id": leaving, "author_id": with, "title": text});
            let assignment = json!({"employee_id": leaving, "title": text, "reviewer_ids": [with]});
            for (family, body) in
                [("observations", observation), ("summaries", summary), ("assignments", assignment)]
            {
                let path = format!("/v1/{family}");
                paths.push(format!("{path}/{}", world.made(&path, body).await));
            }
            let goal = json!({"owner_id": leaving, "title": text, "status": "approved", "period_start": "2026-01-01",
                "period_end": "2030-12-31"});
            let goal = format!("/v1/employee-objectives/{}", world.made("/v1/employee-objectives", goal).await);
            let check_in = json!({"author_id": with, "note": text});
            world.made(&format!("{goal}/check-ins"), check_in).await;
            paths.push(goal);
            let about = json!({"type": "employee", "id": leaving});
            let talk = json!({"title": text, "about": about, "participant_ids": [leaving, with]});
            let talk = format!("/v1/conversations/{}", world.made("/v1/conversations", talk).await);
            let message = json!({"author_id": leaving, "body": text});
            world.made(&format!("{talk}/messages"), message).await;
            talks.push(talk);
        }
        let Ok(talks) = talks.try_into() else { panic!("two conversations") };
        let response = world.post(&format!("/v1/employees/{leaving}/deactivate"), json!({})).await;
        assert_eq!(response.status, 200);
        search_index::index_pending(&world.services, || true).await.unwrap();
        Self { held: held_person, other, leaving, stay, go, talks }
    }

    /// Returns title, subject and the first message of a conversation.
    async fn talk(&self, world: &TestApi, at: usize) -> [Value; 3] {
        let path = &self.talks[at];
        let conversation = world.get(path).await.json();
        let messages = world.get(&format!("{path}/messages")).await.json();
        [conversation["title"].clone(), conversation["about"]["id"].clone(), messages["data"][0]["body"].clone()]
    }

    async fn statuses(&self, world: &TestApi) -> [Vec<u16>; 2] {
        let mut all = [vec![], vec![]];
        for (paths, statuses) in [&self.stay, &self.go].into_iter().zip(&mut all) {
            for path in paths {
                statuses.push(world.get(path).await.status);
            }
        }
        all
    }
}

/// Continues the erasures and the indexing for two minutes.
async fn continue_erasures(world: &TestApi) {
    for _ in 0..6 {
        erasure::run_due(&world.services, || true).await.unwrap();
        world.clock.advance_seconds(20);
        search_index::index_pending(&world.services, || true).await.unwrap();
    }
}

/// Erases a person who has left a conversation with the held person. Returns the first message of that conversation.
async fn first_message_after_leaving(world: &TestApi) -> Value {
    let evidence = Evidence::make(world).await;
    let other = person(world, "third", "employee", None).await;
    let path = &evidence.talks[0];
    let remaining_people = json!({"participant_ids": [evidence.held, other]});
    assert_eq!(world.patch(path, remaining_people).await.status, 200);
    let erasure_response = world.post(&format!("/v1/employees/{}/erasure", evidence.leaving), json!({})).await;
    assert_eq!(erasure_response.status, 202, "{}", erasure_response.text());
    continue_erasures(world).await;
    let receipt =
        world.get(&format!("/v1/erasures/{}", erasure_response.json()["id"].as_str().unwrap())).await.json();
    assert_eq!(receipt["kept_by_hold"], 5, "{receipt}");
    evidence.talk(world, 0).await[2].clone()
}

#[tokio::test]
async fn messages_in_a_conversation_left_before_are_kept() {
    for shared in every_store().await {
        assert_eq!(first_message_after_leaving(&shared.world).await, BOTH, "{}", shared.name);
    }
}

async fn events(world: &TestApi) -> String {
    world.get("/v1/events?limit=100").await.text()
}

#[tokio::test]
async fn hold_of_another_person_keeps_shared_evidence() {
    for shared in every_store().await {
        let world = &shared.world;
        let evidence = Evidence::make(world).await;
        let erasure_response = world.post(&format!("/v1/employees/{}/erasure", evidence.leaving), json!({})).await;
        assert_eq!(erasure_response.status, 202, "{}", erasure_response.text());
        let receipt = format!("/v1/erasures/{}", erasure_response.json()["id"].as_str().unwrap());
        continue_erasures(world).await;
        assert_eq!(evidence.statuses(world).await, [vec![200; 4], vec![404; 4]], "{}", shared.name);
        let leaving = json!(evidence.leaving);
        assert_eq!(evidence.talk(world, 0).await, [json!(BOTH), leaving.clone(), json!(BOTH)], "{}", shared.name);
        let erased_text = json!("[erased]");
        assert_eq!(
            evidence.talk(world, 1).await,
            [erased_text.clone(), Value::Null, erased_text.clone()],
            "{}",
            shared.name
        );
        let feed = events(world).await;
        assert!(feed.contains(BOTH) && !feed.contains(PLAIN), "{}: {feed}", shared.name);
        let receipt_json = world.get(&receipt).await.json();
        assert_eq!(
            (&receipt_json["status"], &receipt_json["kept_by_hold"]),
            (&json!("running"), &json!(5)),
            "{}",
            shared.name
        );
        let person = world.get(&format!("/v1/employees/{}", evidence.leaving)).await.json();
        assert_eq!(person["first_name"], "Former", "the person is pseudonymized although the erasure is running");

        let path = format!("/v1/employees/{}/legal-hold", evidence.held);
        assert_eq!(world.ask("DELETE", &path).send().await.status, 204);
        world.clock.advance_seconds(24 * 3600);
        continue_erasures(world).await;
        assert_eq!(evidence.statuses(world).await, [vec![404; 4], vec![404; 4]], "{}", shared.name);
        assert_eq!(
            evidence.talk(world, 0).await,
            [erased_text.clone(), Value::Null, erased_text.clone()],
            "{}",
            shared.name
        );
        let feed = events(world).await;
        assert!(!feed.contains(BOTH), "{}: {feed}", shared.name);
        let final_receipt = world.get(&receipt).await.json();
        assert_eq!(
            (&final_receipt["status"], &final_receipt["kept_by_hold"]),
            (&json!("completed"), &json!(0)),
            "{}",
            shared.name
        );
        let counts: Vec<_> =
            ["observations", "messages", "conversations"].map(|kind| final_receipt["counts"][kind].clone()).into();
        assert_eq!(counts, [2, 2, 2], "{}: {final_receipt}", shared.name);
    }
}

#[tokio::test]
async fn kept_summary_keeps_its_included_resources() {
    for shared in every_store().await {
        let world = &shared.world;
        let author = person(world, "author", "employee", None).await;
        let [other, leaving] =
            [person(world, "other", "employee", None).await, person(world, "leaving", "employee", None).await];
        let observation =
            json!({"employee_id": leaving, "author_id": other, "type": "strength", "observation": PLAIN});
        let goal = json!({"owner_id": leaving, "title": PLAIN, "status": "approved", "period_start": "2026-01-01",
            "period_end": "2030-12-31"});
        let (observations, goals) = ("/v1/observations", "/v1/employee-objectives");
        let free = world.made(observations, observation.clone()).await;
        let included_ids = [world.made(observations, observation).await, world.made(goals, goal).await];
        let summary = json!({"employee_id": leaving, "author_id": author, "title": BOTH,
            "included_observation_ids": [included_ids[0]], "included_objective_ids": [included_ids[1]]});
        let summary = format!("/v1/summaries/{}", world.made("/v1/summaries", summary).await);
        let paths = [
            summary.clone(),
            format!("{observations}/{}", included_ids[0]),
            format!("{goals}/{}", included_ids[1]),
            format!("{observations}/{free}"),
        ];
        let statuses = async || {
            let mut statuses = vec![];
            for path in &paths {
                statuses.push(world.get(path).await.status);
            }
            statuses
        };
        let hold = format!("/v1/employees/{author}/legal-hold");
        world.ask("PUT", &hold).json(&json!({"reason": "Lawsuit"})).send().await;
        world.post(&format!("/v1/employees/{leaving}/deactivate"), json!({})).await;
        world.post(&format!("/v1/employees/{leaving}/erasure"), json!({})).await;
        continue_erasures(world).await;
        assert_eq!(statuses().await, [200, 200, 200, 404], "{}", shared.name);
        let summary_json = world.get(&summary).await.json();
        assert_eq!(summary_json["included_observation_ids"], json!([included_ids[0]]), "{}", shared.name);
        assert_eq!(summary_json["included_objective_ids"], json!([included_ids[1]]), "{}", shared.name);
        assert_eq!(world.ask("DELETE", &hold).send().await.status, 204);
        world.clock.advance_seconds(24 * 3600);
        continue_erasures(world).await;
        assert_eq!(statuses().await, [404; 4], "{}", shared.name);
    }
}

/// Returns the events that a standard key reads behind a cursor, as type and id of the resource, and the next cursor.
async fn events_behind(world: &TestApi, key: &str, position: &str) -> (Vec<[Value; 2]>, String) {
    let page = world.bare("GET", &format!("/v1/events?limit=100&{position}")).key(key).send().await.json();
    let events = page["data"].as_array().unwrap().iter();
    let cursor = format!("cursor={}", page["next_cursor"].as_str().unwrap());
    (events.map(|event| [event["event"].clone(), event["data"]["id"].clone()]).collect(), cursor)
}

#[tokio::test]
async fn copies_of_standard_keys_learn_of_each_later_removal() {
    for shared in every_store().await {
        let world = &shared.world;
        let evidence = Evidence::make(world).await;
        let hold = |person: &str| format!("/v1/employees/{person}/legal-hold");
        let set = world.ask("PUT", &hold(&evidence.other)).json(&json!({"reason": "Lawsuit"})).send().await;
        assert_eq!(set.status, 200);
        let response = world.post(&format!("/v1/employees/{}/erasure", evidence.leaving), json!({})).await;
        let receipt = format!("/v1/erasures/{}", response.json()["id"].as_str().unwrap());
        continue_erasures(world).await;
        assert_eq!(world.get(&receipt).await.json()["kept_by_hold"], 10, "{}", shared.name);
        let key = world.scoped(&[Permission::EventsRead, Permission::EmployeesRead]).await;
        let (_, mut position) = events_behind(world, &key, "since=now").await;
        let removal = [json!("employee.erased"), json!(evidence.leaving)];
        for (held_person, kept, status, expected_events) in [
            (None, 10, "running", vec![]),
            (Some(&evidence.held), 5, "running", vec![removal.clone()]),
            (None, 5, "running", vec![]),
            (Some(&evidence.other), 0, "completed", vec![removal]),
            (None, 0, "completed", vec![]),
        ] {
            if let Some(held_person) = held_person {
                assert_eq!(world.ask("DELETE", &hold(held_person)).send().await.status, 204);
            }
            world.clock.advance_seconds(24 * 3600);
            continue_erasures(world).await;
            let receipt_json = world.get(&receipt).await.json();
            assert_eq!(
                (&receipt_json["kept_by_hold"], &receipt_json["status"]),
                (&json!(kept), &json!(status)),
                "{}",
                shared.name
            );
            let (events, next_position) = events_behind(world, &key, &position).await;
            assert_eq!(events, expected_events, "{} {kept}", shared.name);
            position = next_position;
        }
    }
}
