//! Objectives and their notifications (§2.2, §3.1, §4.2, decisions C, G).

mod bodies;
mod changed;
mod check_ins;
mod concurrent;
mod contract;
mod lists;
mod matrix;
mod model;
mod notices;
mod progress;
mod sight;
mod starts;

use candor_service::usecases::operator::{self, NewKeyRequest};
use serde_json::{Value, json};

use crate::documented;
use crate::support::{TestApi, TestResponse};
use candor_domain::access::{AccessLevel, AllowedNetworks, Environment, Permissions, Tenant};
use candor_domain::audit::{Actor, AuditEntry, Changes, Origin, Target};
use candor_domain::event::{Event, EventType};
use candor_port_storage::ChangeSet;
use std::time::Instant;

/// Each combination of resource and scope.
const KINDS: [(&str, &str); 3] =
    [("employee-objectives", "employee"), ("manager-objectives", "manager"), ("manager-objectives", "org")];

/// Creates a person with a role and a manager.
pub(crate) async fn person(world: &TestApi, name: &str, role: &str, manager: Option<&str>) -> String {
    let body = json!({
        "email": format!("{name}@example.com"), "first_name": name, "last_name": "Example", "role": role,
        "manager_id": manager,
    });
    world.made("/v1/employees", body).await
}

/// Returns the body of an objective.
pub(crate) fn body(scope: &str, owner: &str) -> Value {
    json!({
        "scope": scope, "owner_id": owner, "title": "Answer within a day", "period_start": "2026-04-01",
        "period_end": "2026-06-30",
    })
}

/// Creates an objective and returns its path.
pub(crate) async fn objective(world: &TestApi, (resource, scope): (&str, &str), owner: &str) -> String {
    create_objective(world, (resource, scope), body(scope, owner)).await
}

pub(crate) async fn create_objective(world: &TestApi, (resource, _): (&str, &str), body: Value) -> String {
    format!("/v1/{resource}/{}", world.made(&format!("/v1/{resource}"), body).await)
}

/// Performs a trigger of the contract's table: an action, or `PATCH` with a status.
async fn ask(world: &TestApi, key: &str, path: &str, trigger: &str) -> TestResponse {
    let (method, path, body) = match trigger.strip_prefix("PATCH ") {
        Some(status) => ("PATCH", path.to_owned(), json!({"status": status})),
        None if trigger == "reject" => ("POST", format!("{path}/reject"), json!({"reason": "Too vague"})),
        None => ("POST", format!("{path}/{trigger}"), json!({})),
    };
    world.bare(method, &path).key(key).json(&body).send().await
}

async fn review(world: &TestApi, setting: &str) {
    let response = world.patch("/v1/organization", json!({"objective_review": setting})).await;
    assert_eq!(response.status, 200, "{}", response.text());
}

/// Creates a key bound to a person.
pub(crate) async fn key_for(world: &TestApi, person: &str, level: AccessLevel) -> String {
    let order = NewKeyRequest {
        organization: world.organization,
        name: "Bound".to_owned(),
        scopes: Permissions::ALL,
        level,
        environment: Environment::Live,
        employee: Some(person.to_owned()),
        expires_at: None,
        reads_per_minute: Some(100_000),
        writes_per_minute: Some(100_000),
        connector: None,
        scim_per_minute: None,
        allowed_networks: AllowedNetworks::EVERYWHERE,
    };
    operator::create_key(&world.services, order).await.unwrap().1.reveal().to_owned()
}

/// A reader of the event feed that remembers its cursor.
pub(crate) struct Feed<'w> {
    world: &'w TestApi,
    cursor: String,
}

impl<'w> Feed<'w> {
    /// Creates a reader that starts at the current end of the feed.
    pub(crate) async fn from_now(world: &'w TestApi) -> Self {
        let mut feed = Self { world, cursor: String::new() };
        feed.read().await;
        feed
    }

    /// Returns the new events about objectives.
    ///
    /// On PostgreSQL, transactions that are open anywhere on the server hold the feed back. The reader
    /// therefore writes a marker event and reads until it appears.
    async fn read(&mut self) -> Vec<Value> {
        self.all("objective.").await
    }

    /// Returns the new events whose names begin with `prefix`.
    pub(crate) async fn all(&mut self, prefix: &str) -> Vec<Value> {
        let last = mark(self.world).await;
        let mut events = vec![];
        let deadline = Instant::now() + crate::support::PATIENCE;
        while Instant::now() < deadline {
            let cursor = if self.cursor.is_empty() { String::new() } else { format!("&cursor={}", self.cursor) };
            let page = self.world.get(&format!("/v1/events?limit=100{cursor}")).await.json();
            self.cursor = page["next_cursor"].as_str().unwrap().to_owned();
            events.extend(page["data"].as_array().unwrap().iter().cloned());
            if events.iter().any(|event| event["id"] == json!(last)) {
                events.retain(|event| {
                    event["id"] != json!(last) && event["event"].as_str().unwrap().starts_with(prefix)
                });
                return events;
            }
        }
        panic!("the feed does not reach {last}");
    }
}

/// Appends an event about the summary of the document's example, and returns its id.
async fn mark(world: &TestApi) -> String {
    let now = world.services.clock.now();
    let audit = AuditEntry {
        id: world.services.id(now),
        occurred_at: now,
        action: "mark".to_owned(),
        actor: Actor::system("test"),
        target: Target { kind: "mark".to_owned(), id: "mark".to_owned() },
        changes: Changes::new(),
        comment: None,
        request_id: None,
        context: Origin::default(),
    };
    let id = world.services.id(now);
    let mut change = ChangeSet::new(audit);
    let data = documented::example_of("getSummary").to_string();
    change.events = vec![Event { id, kind: EventType::SummaryCreated, created_at: now, data, request_id: None }];
    world.services.store.commit(Tenant::live(world.organization), change).await.unwrap();
    id.to_string()
}

/// Returns all entries of a list, across its pages.
pub(crate) async fn walk(world: &TestApi, key: &str, path: &str) -> Vec<Value> {
    let (mut all, mut cursor) = (vec![], String::new());
    loop {
        let response = world.bare("GET", &format!("{path}{cursor}")).key(key).send().await;
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        let page = response.json();
        all.extend(page["data"].as_array().unwrap().iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

fn ids(entries: &[Value]) -> Vec<String> {
    entries.iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
}
