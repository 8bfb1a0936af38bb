//! Editors of a summary do not approve it if reviews are required (decision C10). A model written from the contract
//! alone predicts the results of random histories.

use candor_domain::access::AccessLevel;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};

use super::{ask, body, employee_and_boss, summary};
use crate::objectives::{key_for, person};
use crate::stores::every_store;

/// Number of callers: the author, two managers and a key of the organization.
const CALLERS: usize = 4;
/// Position of the author among the callers.
const AUTHOR: usize = 0;
/// Position of the key of the organization among the callers.
const ORGANIZATION: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Edit,
    Note,
    Submit,
    Return,
    Approve,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    Draft,
    InReview,
}

/// State of a summary by the contract.
struct Model {
    stage: Stage,
    edited_by: Option<usize>,
    /// Callers whose edits no other person has submitted since.
    editors: Vec<usize>,
}

impl Model {
    /// Returns the expected status of the response, and updates the model. An approval does not change the model.
    fn follow(&mut self, caller: usize, step: Step) -> u16 {
        let person = (caller != ORGANIZATION).then_some(caller);
        match (step, self.stage) {
            (Step::Edit, _) => {
                self.edited_by = person;
                self.editors.extend(person);
                200
            }
            (Step::Note, _) => 200,
            (Step::Submit, Stage::Draft) => {
                self.stage = Stage::InReview;
                if let Some(person) = person {
                    self.editors.retain(|editor| *editor == person);
                }
                200
            }
            (Step::Return, Stage::InReview) => {
                self.stage = Stage::Draft;
                200
            }
            (Step::Approve, _) if caller == AUTHOR || self.editors.contains(&caller) => 403,
            (Step::Approve, Stage::InReview) => 200,
            (Step::Submit | Step::Return | Step::Approve, _) => 409,
        }
    }
}

#[tokio::test]
async fn approvals_follow_the_model_in_random_histories() {
    let step = prop_oneof![
        4 => Just(Step::Edit),
        1 => Just(Step::Note),
        3 => Just(Step::Submit),
        2 => Just(Step::Return),
        4 => Just(Step::Approve),
    ];
    let steps = prop::collection::vec((0..CALLERS, step), 200);
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(20), ..Config::default() });
    let steps = steps.new_tree(&mut runner).unwrap().current();
    for shared in every_store().await {
        let world = &shared.world;
        let top = person(world, "top", "manager", None).await;
        let boss = person(world, "boss", "manager", Some(&top)).await;
        let employee = person(world, "ada", "employee", Some(&boss)).await;
        let author = person(world, "author", "employee", None).await;
        let people = [&author, &boss, &top];
        let mut keys = vec![];
        for id in people {
            keys.push(key_for(world, id, AccessLevel::Standard).await);
        }
        keys.push(world.admin.clone());
        let settings_response = world.patch("/v1/organization", json!({"summary_review": "required"})).await;
        assert_eq!(settings_response.status, 200);
        let begin = async || {
            let mut new = body(&employee);
            new["author_id"] = json!(author);
            (summary(world, new).await, Model { stage: Stage::Draft, edited_by: None, editors: vec![] })
        };
        let (mut path, mut model) = begin().await;
        let mut approvals = [0, 0];
        for (number, (caller, step)) in steps.iter().enumerate() {
            let key = &keys[*caller];
            let patch = async |body: Value| world.bare("PATCH", &path).key(key).json(&body).send().await;
            let response = match step {
                Step::Edit => patch(json!({"body": format!("Text {number}")})).await,
                Step::Note => patch(json!({"metadata": {"note": number.to_string()}})).await,
                Step::Submit => ask(world, key, &path, "submit").await,
                Step::Return => ask(world, key, &path, "return").await,
                Step::Approve => ask(world, key, &path, "approve").await,
            };
            let case = format!("{number}: {step:?} by {caller} on {}", shared.name);
            assert_eq!(response.status, model.follow(*caller, *step), "{case}: {}", response.text());
            let summary_json = world.get(&path).await.json();
            let editor = model.edited_by.map(|caller| people[caller]);
            assert_eq!(summary_json["edited_by"], json!(editor), "{case}");
            if *step == Step::Approve {
                approvals[usize::from(response.status == 200)] += 1;
                if response.status == 200 {
                    (path, model) = begin().await;
                }
            }
        }
        assert!(approvals.iter().all(|count| *count > 5), "{approvals:?}");
    }
}

#[tokio::test]
async fn unapproved_changes_in_review_are_notified() {
    for shared in every_store().await {
        let world = &shared.world;
        let (employee, boss) = employee_and_boss(world).await;
        let author = person(world, "author", "employee", None).await;
        let author_key = key_for(world, &author, AccessLevel::Standard).await;
        let boss_key = key_for(world, &boss, AccessLevel::Standard).await;
        let read_recipients = async || {
            let page = world.get("/v1/notifications?limit=100").await.json();
            let entries = page["data"].as_array().unwrap();
            let change_notices = entries.iter().filter(|notice| notice["type"] == "summary.changed");
            change_notices.map(|notice| notice["recipient_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let patch = async |key: &str, path: &str, body: Value| {
            world.clock.advance_millis(1);
            let response = world.bare("PATCH", path).key(key).json(&body).send().await;
            assert_eq!(response.status, 200, "{}", response.text());
        };
        for setting in ["optional", "required"] {
            let review = world.patch("/v1/organization", json!({"summary_review": setting})).await;
            assert_eq!(review.status, 200, "{}", review.text());
            let mut text = body(&employee);
            text["author_id"] = json!(author);
            let path = summary(world, text).await;
            patch(&author_key, &path, json!({"body": "Before the review"})).await;
            assert_eq!(ask(world, &author_key, &path, "submit").await.status, 200);
            patch(&author_key, &path, json!({"body": format!("Swapped, {setting}")})).await;
            patch(&author_key, &path, json!({"metadata": {"a": "b"}})).await;
            patch(&boss_key, &path, json!({"title": "By the reviewer"})).await;
            patch(&world.admin, &path, json!({"title": "By the organization"})).await;
            patch(&author_key, &path, json!({"title": "Again"})).await;
        }
        assert_eq!(read_recipients().await, [boss.clone(), boss], "two changes of the author on {}", shared.name);
    }
}
