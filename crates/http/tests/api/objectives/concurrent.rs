//! Concurrent actions on objectives leave one legal history, with one event per entry.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::contract::next_state;
use super::{Feed, KINDS, ask, objective, person};
use crate::stores::every_store;
use crate::support::TestApi;

/// Applies the actions of a history to the contract's table, and returns the final state.
fn replay_history(history: &[Value]) -> &'static str {
    let actions: Vec<_> = history.iter().rev().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert_eq!(actions[0], "objective.create");
    actions[1..].iter().fold("proposed", |state, action| {
        let trigger = action.trim_start_matches("objective.");
        next_state(state, trigger, "optional").unwrap_or_else(|| panic!("{state} × {trigger} in {actions:?}"))
    })
}

async fn twenty_at_once(world: &TestApi, kind: (&str, &str), triggers: &[&str], name: &str) {
    let owner = person(world, &format!("{}-{}", kind.1, triggers.len()), "org_admin", None).await;
    let path = objective(world, kind, &owner).await;
    let mut feed = Feed::from_now(world).await;
    let requests = (0..20).map(|number| ask(world, &world.admin, &path, triggers[number % triggers.len()]));
    let responses = join_all(requests).await;
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for answered in &responses {
        *statuses.entry(answered.status).or_default() += 1;
        assert!(matches!(answered.status, 200 | 409), "{name}: {}", answered.text());
    }
    let success_count = statuses[&200];
    let history = world.get(&format!("{path}/history?limit=100")).await.json()["data"].clone();
    let history = history.as_array().unwrap();
    let end = replay_history(history);
    let now = world.get(&path).await.json();
    assert_eq!(
        (now["status"].as_str(), history.len()),
        (Some(end), success_count + 1),
        "{name} {kind:?}: {statuses:?}"
    );
    let events = feed.read().await;
    let count = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    let archive_count = usize::from(end == "archived");
    let counts = (count("objective.status_changed"), count("objective.archived"), events.len());
    assert_eq!(counts, (success_count, archive_count, success_count + archive_count), "{name} {kind:?}");
    assert_eq!(events.last().unwrap()["data"], now, "{name} {kind:?}");
}

#[tokio::test]
async fn concurrent_objective_actions_form_one_legal_history() {
    for shared in every_store().await {
        for kind in KINDS {
            twenty_at_once(&shared.world, kind, &["approve", "reject", "archive"], shared.name).await;
            twenty_at_once(&shared.world, kind, &["approve", "approve", "approve", "reject"], shared.name).await;
        }
    }
}

#[tokio::test]
async fn one_of_twenty_concurrent_approvals_wins() {
    for shared in every_store().await {
        let owner = person(&shared.world, "owner", "employee", None).await;
        let path = objective(&shared.world, KINDS[0], &owner).await;
        let responses = join_all((0..20).map(|_| ask(&shared.world, &shared.world.admin, &path, "approve"))).await;
        assert_eq!(responses.iter().filter(|response| response.status == 200).count(), 1, "{}", shared.name);
        let notifications =
            shared.world.get(&format!("/v1/notifications?filter[recipient_id]={owner}")).await.json();
        assert_eq!(
            notifications["data"].as_array().unwrap().len(),
            1,
            "{}: the owner gets one notification",
            shared.name
        );
    }
}

#[tokio::test]
async fn stale_objective_version_is_refused_under_concurrency() {
    for shared in every_store().await {
        let owner = person(&shared.world, "owner", "employee", None).await;
        let path = objective(&shared.world, KINDS[0], &owner).await;
        let tag = shared.world.get(&path).await.header("etag").unwrap().to_owned();
        let patches = (0..9).map(|number| {
            let body = json!({"title": format!("Title {number}")});
            shared.world.ask("PATCH", &path).header("if-match", &tag).json(&body).send()
        });
        let responses = join_all(patches).await;
        assert_eq!(responses.iter().filter(|response| response.status == 200).count(), 1, "{}", shared.name);
        assert_eq!(responses.iter().filter(|response| response.status == 412).count(), 8, "{}", shared.name);
    }
}
