//! Retention: removed and kept resources, legal holds, receipts, and failures of any piece (decision H5).

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions, Tenant};
use candor_domain::retention::{Retention, RetentionRun, RuleStarts};
use candor_port_storage::{Row, Write};
use candor_service::runtime::{retention, search_index};
use candor_store_testkit::{Fault, FaultyCall};
use serde_json::{Value, json};

use crate::connectors::change;
use crate::feed::copy::{Reader, comparable};
use crate::objectives::{key_for, person};
use crate::stores::every_faulty_store;
use crate::support::TestApi;

pub(crate) const DAY: i64 = 86_400;

/// A store of any kind that fails on request. [`run`] sets the time of the store to the time of the test.
pub(crate) type Faulty = candor_store_testkit::Faulty<dyn candor_port_storage::Storage>;

/// Saves a run and returns its id.
pub(crate) async fn stored_run(world: &TestApi, key: &str) -> String {
    let me = world.bare("GET", "/v1/me").key(key).send().await.json();
    let organization = me["organization_id"].as_str().unwrap().parse().unwrap();
    let now = world.services.clock.now();
    let id = RetentionRun::id_of(organization, now);
    let run = RetentionRun::begin(id, &Retention::default(), &RuleStarts::default(), vec![], now).state;
    let change = change(world, vec![Write::put(&Row::new(run))]);
    world.services.store.commit(Tenant::live(organization), change).await.unwrap();
    id.to_string()
}

/// Continues the runs of the retention in four rounds, 20 seconds apart. A round repeats the failed work of the one
/// before.
pub(crate) async fn run(world: &TestApi, faulty: &Faulty) {
    for _ in 0..4 {
        faulty.set_time(world.services.clock.now());
        drop(retention::run_due(&world.services, || true).await);
        world.clock.advance_seconds(20);
        drop(search_index::index_pending(&world.services, || true).await);
    }
}

pub(crate) async fn status(world: &TestApi, path: &str) -> u16 {
    world.get(path).await.status
}

pub(crate) async fn act(world: &TestApi, path: &str) {
    let response = world.post(path, json!({})).await;
    assert!(response.status < 300, "{path}: {}", response.text());
}

async fn observation(world: &TestApi, about: &str) -> String {
    let body = json!({"employee_id": about, "type": "strength", "observation": "Listens."});
    format!("/v1/observations/{}", world.made("/v1/observations", body).await)
}

/// Resources of a test, as paths.
struct TestResources {
    /// Resources that the [`RULES`] remove after 30 days.
    old: Vec<String>,
    /// Resources that stay: those of a held person, an included observation, and those that are not archived.
    kept: Vec<String>,
    /// The subject of most resources.
    person: String,
    /// The person on hold, who takes part in a kept conversation.
    held: String,
}

async fn make(world: &TestApi) -> TestResources {
    let ada = person(world, "ada", "employee", None).await;
    let held_person = person(world, "held", "employee", None).await;
    let hold = format!("/v1/employees/{held_person}/legal-hold");
    world.ask("PUT", &hold).json(&json!({"reason": "Lawsuit"})).send().await;
    let (old, of_held, included, active) = (
        observation(world, &ada).await,
        observation(world, &held_person).await,
        observation(world, &ada).await,
        observation(world, &ada).await,
    );
    let id = included.rsplit('/').next().unwrap();
    let summary =
        json!({"employee_id": ada, "title": "First half", "body": "Helps.", "included_observation_ids": [id]});
    let open = format!("/v1/summaries/{}", world.made("/v1/summaries", summary).await);
    let summary = json!({"employee_id": ada, "title": "Last half", "body": "Helped."});
    let summary_path = format!("/v1/summaries/{}", world.made("/v1/summaries", summary).await);
    let objective = json!({"owner_id": ada, "title": "Answer within a day", "period_start": "2026-04-01",
        "period_end": "2026-06-30"});
    let objective = format!("/v1/employee-objectives/{}", world.made("/v1/employee-objectives", objective).await);
    let mut talks = vec![];
    for other in [&person(world, "eve", "employee", None).await, &held_person] {
        let talk = json!({"title": "Quarter", "participant_ids": [ada, other]});
        let talk = format!("/v1/conversations/{}", world.made("/v1/conversations", talk).await);
        let messages = format!("{talk}/messages");
        let message = world.made(&messages, json!({"author_id": other, "body": "Shall we?"})).await;
        act(world, &format!("{talk}/archive")).await;
        talks.push((format!("{talk}/messages/{message}"), talk));
    }
    for path in [&old, &of_held, &included, &summary_path, &objective] {
        act(world, &format!("{path}/archive")).await;
    }
    let (held_talk, talk) = (talks.pop().unwrap(), talks.pop().unwrap());
    TestResources {
        old: vec![old, summary_path, objective, talk.1, talk.0],
        kept: vec![of_held, included, open, active, held_talk.1, held_talk.0],
        person: ada,
        held: held_person,
    }
}

const RULES: [&str; 4] =
    ["archived_observations", "archived_objectives", "archived_summaries", "archived_conversations"];

pub(crate) async fn set(world: &TestApi, period: &str) -> Value {
    let rules: serde_json::Map<_, _> = RULES.iter().map(|rule| ((*rule).to_owned(), json!(period))).collect();
    let response = world.patch("/v1/organization", json!({"retention": rules})).await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()
}

async fn assert_all(world: &TestApi, paths: &[String], wanted: u16) {
    for path in paths {
        assert_eq!(status(world, path).await, wanted, "{path}");
    }
}

#[tokio::test]
async fn run_removes_only_resources_archived_before_the_period() {
    for (world, faulty, _database) in every_faulty_store().await {
        let resources = make(&world).await;
        let set_response = set(&world, "P30D").await;
        assert_eq!(set_response["retention"]["archived_summaries"], "P30D");
        assert_eq!(set_response["retention"]["deactivated_people"], json!(null));
        world.clock.advance_seconds(20 * DAY);
        let recent = observation(&world, &resources.person).await;
        act(&world, &format!("{recent}/archive")).await;
        run(&world, &faulty).await;
        assert_all(&world, &resources.old, 200).await;

        world.clock.advance_seconds(19 * DAY);
        let preview = world.get("/v1/retention/preview").await.json();
        for rule in RULES {
            assert_eq!(preview["counts"][rule], 1, "{rule}: {preview}");
        }
        run(&world, &faulty).await;
        assert_all(&world, &resources.old, 404).await;
        assert_all(&world, &resources.kept, 200).await;
        assert_eq!(status(&world, &recent).await, 200, "archived 19 days ago");

        let runs = world.get("/v1/retention/runs").await.json();
        let receipt = &runs["data"][0];
        assert_eq!(
            (&receipt["status"], &receipt["applied"]["archived_objectives"]),
            (&json!("completed"), &json!("P30D"))
        );
        let counts: serde_json::Map<_, _> = RULES.iter().map(|rule| ((*rule).to_owned(), json!(1))).collect();
        assert_eq!(receipt["counts"], json!(counts), "{receipt}");
        let path = format!("/v1/retention/runs/{}", receipt["id"].as_str().unwrap());
        assert_eq!(&world.get(&path).await.json(), receipt);
        assert_effects(&world, &resources, receipt).await;

        world.clock.advance_seconds(DAY);
        run(&world, &faulty).await;
        let runs = world.get("/v1/retention/runs").await.json();
        assert_eq!(runs["data"][0]["counts"], json!({}), "the next day has nothing to remove");
        assert_ne!(&runs["data"][0]["id"], &receipt["id"]);
    }
}

/// Checks events, audit log and notifications after the run.
async fn assert_effects(world: &TestApi, made: &TestResources, receipt: &Value) {
    let feed_response =
        world.get("/v1/events?limit=100&filter[event]=retention.removed&filter[event]=retention.completed").await;
    let feed_events = feed_response.json()["data"].as_array().unwrap().clone();
    let resource_names: Vec<_> =
        feed_events.iter().filter_map(|event| event["data"]["resource"].as_str()).collect();
    assert_eq!(resource_names, ["summaries", "observations", "employee_objectives", "conversations"]);
    assert_eq!(feed_events.last().unwrap()["data"], *receipt);
    for path in made.old.iter().filter(|path| !path.contains("/messages/")) {
        let id = path.rsplit('/').next().unwrap();
        assert!(feed_events.iter().any(|event| event["data"]["ids"] == json!([id])), "{path}: {feed_events:?}");
        let entries = world.get(&format!("/v1/audit-log?filter[target_id]={id}")).await.json();
        let entries = entries["data"].as_array().unwrap();
        assert!(!entries.is_empty() && entries.iter().all(|entry| entry["changes"] == json!({})), "{entries:?}");
        let notices = world.get("/v1/notifications?limit=100").await.text();
        assert!(!notices.contains(id), "{path}: {notices}");
    }
    let run = receipt["id"].as_str().unwrap();
    let entries = world.get(&format!("/v1/audit-log?limit=100&filter[target_id]={run}")).await.json();
    let entries = entries["data"].as_array().unwrap();
    let mut actions: Vec<_> = entries.iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    actions.sort_unstable();
    let removals = ["retention.remove"; 4];
    assert_eq!(actions, [&["retention.begin", "retention.complete"], &removals[..]].concat());
}

#[tokio::test]
async fn copy_that_follows_the_feed_loses_removed_resources() {
    for (world, faulty, _database) in every_faulty_store().await {
        let resources = make(&world).await;
        set(&world, "P30D").await;
        world.clock.advance_seconds(40 * DAY);
        let reader = Reader { world: &world, key: &world.admin };
        let (cursor, mut copy) = (reader.end_cursor().await, reader.read().await);
        run(&world, &faulty).await;
        assert_all(&world, &resources.old, 404).await;
        world.patch("/v1/organization", json!({"name": "After the run"})).await;
        copy.apply(reader.events_until(&cursor, "After the run").await);
        assert_eq!(copy.derived(), comparable(&reader.read().await));
    }
}

#[tokio::test]
async fn hold_that_ends_lets_the_next_run_remove_the_data() {
    for (world, faulty, _database) in every_faulty_store().await {
        let resources = make(&world).await;
        set(&world, "P30D").await;
        world.clock.advance_seconds(40 * DAY);
        run(&world, &faulty).await;
        assert_eq!(status(&world, &resources.kept[0]).await, 200);
        world.ask("DELETE", &format!("/v1/employees/{}/legal-hold", resources.held)).send().await;
        world.clock.advance_seconds(DAY);
        run(&world, &faulty).await;
        for (at, wanted) in [(0, 404), (1, 200), (4, 404), (5, 404)] {
            assert_eq!(status(&world, &resources.kept[at]).await, wanted, "{}", resources.kept[at]);
        }
    }
}

#[tokio::test]
async fn rule_that_is_switched_off_or_made_longer_removes_nothing() {
    for (world, faulty, _database) in every_faulty_store().await {
        let resources = make(&world).await;
        set(&world, "P30D").await;
        world.clock.advance_seconds(40 * DAY);
        set(&world, "P1Y").await;
        run(&world, &faulty).await;
        assert_all(&world, &resources.old, 200).await;
        let rules_off = json!({"archived_observations": null, "archived_objectives": null, "archived_summaries": null,
            "archived_conversations": null});
        world.patch("/v1/organization", json!({"retention": rules_off})).await;
        world.clock.advance_seconds(400 * DAY);
        run(&world, &faulty).await;
        assert_all(&world, &resources.old, 200).await;
        assert_eq!(world.get("/v1/retention/preview").await.json()["next_run_at"], json!(null));
        set(&world, "P30D").await;
        run(&world, &faulty).await;
        assert_all(&world, &resources.old, 200).await;
        world.clock.advance_seconds(7 * DAY);
        run(&world, &faulty).await;
        assert_all(&world, &resources.old, 404).await;
    }
}

#[tokio::test]
async fn nothing_is_removed_while_the_clocks_differ() {
    for (world, faulty, _database) in every_faulty_store().await {
        let resources = make(&world).await;
        set(&world, "P30D").await;
        world.clock.advance_seconds(40 * DAY);
        for apart in [-2 * DAY, 2 * DAY] {
            faulty.set_time(world.services.clock.now().plus_seconds(apart));
            assert_eq!(retention::run_due(&world.services, || true).await.unwrap(), 0);
        }
        assert_all(&world, &resources.old, 200).await;
        assert_eq!(world.get("/v1/retention/runs").await.json()["data"], json!([]));
        run(&world, &faulty).await;
        assert_all(&world, &resources.old, 404).await;
    }
}

#[tokio::test]
async fn run_continues_after_a_failure_at_each_piece() {
    for (world, faulty, _database) in every_faulty_store().await {
        let resources = make(&world).await;
        set(&world, "P30D").await;
        world.clock.advance_seconds(40 * DAY);
        let mut failures = 0;
        loop {
            let runs = world.get("/v1/retention/runs").await.json();
            if runs["data"][0]["status"] == "completed" {
                let counts = &runs["data"][0]["counts"];
                assert!(RULES.iter().all(|rule| counts[rule] == 1), "{counts}");
                break;
            }
            failures += 1;
            assert!(failures < 200, "the run never ends");
            faulty.set_time(world.services.clock.now());
            let call = if failures % 3 == 0 { FaultyCall::Upkeep } else { FaultyCall::Commit };
            faulty.fail(call, 1 + failures / 4, if failures % 2 == 0 { Fault::Before } else { Fault::After });
            let _ = retention::run_due(&world.services, || true).await;
            world.clock.advance_seconds(5);
        }
        assert!(failures > 3, "{failures}");
        assert_all(&world, &resources.old, 404).await;
        assert_all(&world, &resources.kept, 200).await;
    }
}

#[tokio::test]
async fn invalid_period_is_reported_by_name() {
    let world = TestApi::new().await;
    for (body, field, code) in [
        (json!({"archived_observations": "3 years"}), "retention.archived_observations", "invalid_format"),
        (json!({"archived_objectives": "P29D"}), "retention.archived_objectives", "out_of_range"),
        (json!({"deactivated_people": 3}), "retention.deactivated_people", "invalid_format"),
        (json!({"audit_log": "P3Y"}), "retention.audit_log", "unknown_field"),
        (json!([]), "retention", "invalid_format"),
        (json!(null), "retention", "required"),
    ] {
        let response = world.patch("/v1/organization", json!({"retention": body})).await;
        assert_eq!(response.status, 400, "{}", response.text());
        assert_eq!(response.problems(), [(field.to_owned(), code.to_owned())], "{body}");
    }
    let preview_response = world.get("/v1/retention/preview?archived_summaries=P1D&deactivated_people=P1H").await;
    let problems = ["archived_summaries", "deactivated_people"].map(str::to_owned).into_iter();
    let codes = ["out_of_range", "invalid_format"].map(str::to_owned);
    assert_eq!(preview_response.problems(), problems.zip(codes).collect::<Vec<_>>());
}

#[tokio::test]
async fn preview_with_other_periods_changes_nothing() {
    for (world, _faulty, _database) in every_faulty_store().await {
        make(&world).await;
        world.clock.advance_seconds(40 * DAY);
        let preview = world.get("/v1/retention/preview?archived_observations=P30D").await.json();
        assert_eq!(preview["counts"], json!({"archived_observations": 1}), "{preview}");
        let due = candor_domain::time::Timestamp::plus_seconds(world.services.clock.now(), 7 * DAY);
        assert_eq!(preview["next_run_at"], json!(due.to_string()));
        assert_eq!(preview["applies_at"], json!({"archived_observations": due.to_string()}));
        let organization = world.get("/v1/organization").await.json();
        assert_eq!(organization["retention"]["archived_observations"], json!(null));
        let none = world.get("/v1/retention/preview").await.json();
        assert_eq!(none, json!({"next_run_at": null, "applies_at": {}, "counts": {}}));
    }
}

#[tokio::test]
async fn retention_is_set_only_by_a_key_that_may_erase_people() {
    let world = TestApi::new().await;
    let boss = person(&world, "boss", "org_admin", None).await;
    let scopes = |erases: bool| {
        let scopes = Permissions::NONE.with(Permission::SettingsWrite);
        if erases { scopes.with(Permission::EmployeesErase) } else { scopes }
    };
    let period = json!({"retention": {"deactivated_people": "P30D"}});
    let body_without_rule = json!({"retention": {"deactivated_people": null}});
    let name = json!({"name": "Other"});
    let bound_key = key_for(&world, &boss, AccessLevel::Admin).await;
    let key_without_scope = world.key(scopes(false), AccessLevel::Admin, Environment::Live).await;
    let with = world.key(scopes(true), AccessLevel::Admin, Environment::Live).await;
    for (key, body, wanted) in [
        (&bound_key, &period, 403),
        (&bound_key, &body_without_rule, 403),
        (&bound_key, &name, 200),
        (&key_without_scope, &period, 403),
        (&key_without_scope, &name, 200),
        (&with, &period, 200),
        (&with, &body_without_rule, 200),
    ] {
        let response = world.bare("PATCH", "/v1/organization").key(key).json(body).send().await;
        assert_eq!(response.status, wanted, "{body}: {}", response.text());
    }
}
