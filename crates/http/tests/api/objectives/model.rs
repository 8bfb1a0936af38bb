//! Random sequences of actions, edits and days on objectives. A model written from the contract alone predicts
//! the results.

use candor_domain::time::Date;
use candor_service::runtime::objective_autostart;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::contract::{REVIEWS, TRIGGERS, is_finished, next_state, reported};
use super::{Feed, KINDS, ask, person, review};
use crate::support::{START, TestApi};

#[derive(Debug, Clone)]
enum Step {
    Trigger(&'static str),
    Title(u8),
    Begin(i64),
    Review(&'static str),
    Days(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => prop::sample::select(&TRIGGERS[..]).prop_map(Step::Trigger),
        2 => prop::sample::select(vec!["approve", "PATCH approved", "PATCH in_progress"]).prop_map(Step::Trigger),
        1 => (0..3u8).prop_map(Step::Title),
        1 => (-5..20i64).prop_map(Step::Begin),
        1 => prop::sample::select(&REVIEWS[..]).prop_map(Step::Review),
        2 => (0..6i64).prop_map(Step::Days),
    ]
}

fn day(offset: i64) -> String {
    Date::from_epoch_days(START.date().epoch_days() + i32::try_from(offset).unwrap()).to_string()
}

struct Model {
    json: Value,
    state: &'static str,
    held_back: bool,
    review: &'static str,
    begins: i64,
    today: i64,
}

impl Model {
    /// Applies a step to the model. Returns the expected events, or the status of the refusal.
    fn take(&mut self, step: &Step, now: &str) -> Result<Vec<&'static str>, u16> {
        match step {
            Step::Review(setting) => {
                self.review = setting;
                Ok(vec![])
            }
            Step::Days(days) => {
                self.today += days;
                if self.state == "approved" && !self.held_back && self.begins <= self.today {
                    self.enter("in_progress", now);
                    return Ok(vec!["objective.status_changed"]);
                }
                Ok(vec![])
            }
            Step::Title(number) => self.edit("title", json!(format!("Title {number}")), now),
            Step::Begin(offset) => {
                let event_names = self.edit("period_start", json!(day(*offset)), now)?;
                self.begins = *offset;
                Ok(event_names)
            }
            Step::Trigger(trigger) => self.trigger(trigger, now),
        }
    }

    fn edit(&mut self, field: &str, to: Value, now: &str) -> Result<Vec<&'static str>, u16> {
        if is_finished(self.state) {
            return Err(409);
        }
        if self.json[field] == to {
            return Ok(vec![]);
        }
        self.json[field] = to;
        self.json["updated_at"] = json!(now);
        Ok(vec!["objective.updated"])
    }

    fn trigger(&mut self, trigger: &str, now: &str) -> Result<Vec<&'static str>, u16> {
        let same = trigger.strip_prefix("PATCH ") == Some(reported(self.state)) && !is_finished(self.state);
        let Some(to) = next_state(self.state, trigger, self.review) else {
            return if same { Ok(vec![]) } else { Err(409) };
        };
        match trigger {
            "submit" => self.json["submitted_at"] = json!(now),
            "reject" => self.json["submitted_at"] = Value::Null,
            "complete" => self.json["completed_at"] = json!(now),
            "PATCH approved" => self.held_back = true,
            "PATCH in_progress" => self.held_back = false,
            _ => {}
        }
        self.enter(to, now);
        let archive_event = (to == "archived").then_some("objective.archived");
        Ok(["objective.status_changed"].into_iter().chain(archive_event).collect())
    }

    fn enter(&mut self, to: &'static str, now: &str) {
        self.state = to;
        self.json["status"] = json!(reported(to));
        self.json["updated_at"] = json!(now);
        if matches!(to, "approved" | "in_progress") && self.json["approved_at"].is_null() {
            self.json["approved_at"] = json!(now);
        }
    }
}

async fn carry_out(world: &TestApi, path: &str, step: &Step) -> u16 {
    match step {
        Step::Trigger(trigger) => ask(world, &world.admin, path, trigger).await.status,
        Step::Title(number) => world.patch(path, json!({"title": format!("Title {number}")})).await.status,
        Step::Begin(offset) => world.patch(path, json!({"period_start": day(*offset)})).await.status,
        Step::Review(setting) => {
            review(world, setting).await;
            200
        }
        Step::Days(_) => {
            objective_autostart::due_objectives(&world.services, || true).await.unwrap();
            200
        }
    }
}

async fn agree(kind: usize, steps: Vec<Step>) {
    let world = TestApi::new().await;
    let (resource, scope) = KINDS[kind];
    let owner = person(&world, "owner", "org_admin", None).await;
    let body = json!({
        "scope": scope, "owner_id": owner, "title": "Title 0", "period_start": day(3), "period_end": day(400),
    });
    let creation = world.post(&format!("/v1/{resource}"), body).await.json();
    let path = format!("/v1/{resource}/{}", creation["id"].as_str().unwrap());
    let mut model =
        Model { json: creation, state: "proposed", held_back: false, review: "optional", begins: 3, today: 0 };
    let mut feed = Feed::from_now(&world).await;
    let mut history_count = 1;
    for (number, step) in steps.iter().enumerate() {
        world.clock.advance_millis(1);
        if let Step::Days(days) = step {
            world.clock.advance_seconds(days * 86_400);
        }
        let now = world.services.clock.now().to_string();
        let (wanted, status) = match model.take(step, &now) {
            Ok(events) => (events, 200),
            Err(status) => (vec![], status),
        };
        let case = format!("no. {number} of {steps:?}");
        assert_eq!(carry_out(&world, &path, step).await, status, "{case}");
        assert_eq!(world.get(&path).await.json(), model.json, "{case}");
        let new_events = feed.read().await;
        let names: Vec<_> = new_events.iter().map(|item| item["event"].as_str().unwrap()).collect();
        assert_eq!(names, wanted, "{case}");
        assert!(new_events.iter().all(|item| item["data"] == model.json), "{case}");
        history_count += usize::from(!wanted.is_empty());
    }
    let history = world.get(&format!("{path}/history?limit=100")).await.json();
    assert_eq!(history["data"].as_array().unwrap().len(), history_count, "one entry for each change: {steps:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_objective_requests_match_the_contract_model(kind in 0..3usize, steps in vec(step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(agree(kind, steps));
    }
}
