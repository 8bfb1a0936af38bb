//! Concurrent actions on a summary take effect exactly once.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde_json::json;

use super::{ask, body, employee_and_boss, member, objective, observation, perform, summary};
use crate::objectives::{Feed, walk};
use crate::stores::every_store;

#[tokio::test]
async fn one_of_twenty_concurrent_feedbacks_is_stored() {
    for shared in every_store().await {
        let world = &shared.world;
        let (employee, boss) = employee_and_boss(world).await;
        let mut summary_body = body(&employee);
        summary_body["author_id"] = json!(boss);
        let path = summary(world, summary_body).await;
        perform(world, &path, &["approve", "share"]).await;
        let mut feed = Feed::from_now(world).await;
        let feedback = |number: usize| {
            let body = json!({"comment": format!("No. {number}"), "acknowledged": true});
            world.ask("POST", &format!("{path}/feedback")).json(&body).send()
        };
        let responses = join_all((0..20).map(feedback)).await;
        let successes: Vec<_> = responses.iter().filter(|response| response.status == 200).collect();
        assert_eq!(
            (successes.len(), responses.iter().filter(|response| response.status == 409).count()),
            (1, 19),
            "{}",
            shared.name
        );
        assert_eq!(world.get(&path).await.json(), successes[0].json(), "{}", shared.name);
        let events = feed.all("summary.").await;
        assert_eq!(
            (events.len(), &events[0]["event"]),
            (1, &json!("summary.feedback_submitted")),
            "{}",
            shared.name
        );
        let notifications = world.get(&format!("/v1/notifications?filter[recipient_id]={boss}")).await.json();
        assert_eq!(notifications["data"].as_array().unwrap().len(), 1, "{}", shared.name);
    }
}

#[tokio::test]
async fn concurrent_summary_actions_form_one_legal_history() {
    for shared in every_store().await {
        let world = &shared.world;
        let (employee, _) = employee_and_boss(world).await;
        let path = summary(world, body(&employee)).await;
        let mut feed = Feed::from_now(world).await;
        let actions = ["submit", "approve", "return", "share", "archive"];
        let responses = join_all((0..20).map(|number| ask(world, &world.admin, &path, actions[number % 5]))).await;
        let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
        responses.iter().for_each(|response| *statuses.entry(response.status).or_default() += 1);
        assert!(statuses.keys().all(|status| matches!(status, 200 | 409)), "{}: {statuses:?}", shared.name);
        let events = feed.all("summary.").await;
        assert_eq!(events.len(), statuses[&200], "{}: {statuses:?}", shared.name);
        assert_eq!(events.last().unwrap()["data"], world.get(&path).await.json(), "{}", shared.name);
    }
}

#[tokio::test]
async fn concurrent_summaries_of_one_objective_are_all_linked() {
    for shared in every_store().await {
        let world = &shared.world;
        let (employee, _) = employee_and_boss(world).await;
        let goal = objective(world, &employee).await;
        let mut summary_body = body(&employee);
        summary_body["included_objective_ids"] = json!([goal]);
        let responses = join_all((0..20).map(|_| world.post("/v1/summaries", summary_body.clone()))).await;
        assert!(responses.iter().all(|response| response.status == 201), "{}", shared.name);
        let mut expected_ids: Vec<_> = responses.iter().map(|response| response.json()["id"].clone()).collect();
        expected_ids.sort_by_key(|id| id.as_str().unwrap().to_owned());
        let path = format!("/v1/employee-objectives/{goal}");
        assert_eq!(member(world, &path, "linked_summary_ids").await, json!(expected_ids), "{}", shared.name);
        let rows =
            walk(world, &world.admin, &format!("/v1/summaries?limit=3&filter[included_objective_id]={goal}"))
                .await;
        assert_eq!(rows.len(), 20, "{}", shared.name);
    }
}

#[tokio::test]
async fn approval_during_observation_archival_ends_consistently() {
    for shared in every_store().await {
        let world = &shared.world;
        let (employee, _) = employee_and_boss(world).await;
        for _ in 0..5 {
            let observation_id = observation(world, &employee).await;
            let mut summary_body = body(&employee);
            summary_body["included_observation_ids"] = json!([observation_id]);
            let path = summary(world, summary_body).await;
            let archive = format!("/v1/observations/{observation_id}/archive");
            let (approved, archived) =
                tokio::join!(ask(world, &world.admin, &path, "approve"), world.post(&archive, json!({})));
            assert_eq!((approved.status, archived.status), (200, 200), "{}", shared.name);
            assert_eq!(
                world.get(&path).await.json(),
                approved.json(),
                "{}: the summary is unchanged since its approval",
                shared.name
            );
        }
    }
}

#[tokio::test]
async fn stale_summary_version_is_refused_under_concurrency() {
    for shared in every_store().await {
        let world = &shared.world;
        let (employee, _) = employee_and_boss(world).await;
        let path = summary(world, body(&employee)).await;
        let tag = world.get(&path).await.header("etag").unwrap().to_owned();
        let patches = (0..9).map(|number| {
            let body = json!({"title": format!("Title {number}")});
            world.ask("PATCH", &path).header("if-match", &tag).json(&body).send()
        });
        let responses = join_all(patches).await;
        assert_eq!(responses.iter().filter(|response| response.status == 200).count(), 1, "{}", shared.name);
        assert_eq!(responses.iter().filter(|response| response.status == 412).count(), 8, "{}", shared.name);
    }
}
