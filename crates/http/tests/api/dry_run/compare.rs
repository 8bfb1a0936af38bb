//! Sends a request as a dry run and then for real, and compares the effects.

use std::time::Instant;

use candor_domain::ulid::Ulid;
use candor_port_clock::Clock;
use serde_json::{Value, json};

use super::watched::WatchedService;
use crate::support::{PATIENCE, TestApi, TestResponse};

/// Time between two requests, in milliseconds. Changes within one millisecond would get later times than that of
/// the clock.
const APART_MILLIS: i64 = 100;

/// A write to send twice.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) key: String,
    pub(crate) body: Option<Value>,
    pub(crate) if_match: Option<String>,
}

impl Trial {
    pub(crate) async fn send(&self, world: &TestApi, query: &str) -> TestResponse {
        let mut request = world.bare(self.method, &format!("{}{query}", self.path)).key(&self.key);
        if let Some(tag) = &self.if_match {
            request = request.header("if-match", tag);
        }
        match &self.body {
            Some(body) => request.json(body).send().await,
            None => request.send().await,
        }
    }
}

/// A reader of the effects of real requests.
pub(super) struct Comparison<'w> {
    watched: &'w WatchedService,
    cursor: String,
    /// Time of the current request. Earlier events in the feed belong to earlier requests: an open transaction on the
    /// PostgreSQL server can delay them.
    begun: String,
}

impl<'w> Comparison<'w> {
    pub(super) async fn new(watched: &'w WatchedService) -> Self {
        let mut comparison = Self { watched, cursor: String::new(), begun: String::new() };
        let first = watched.world.get("/v1/events?since=now").await.json();
        comparison.cursor = first["next_cursor"].as_str().unwrap().to_owned();
        comparison
    }

    /// Sends the request as a dry run and then for real, at one time, and asserts that the dry run describes the
    /// real request and changes nothing. Returns the answer of the real request.
    pub(super) async fn compare(&mut self, trial: &Trial, is_watched: bool) -> TestResponse {
        let world = &self.watched.world;
        let what = format!("{}: {trial:?}", self.watched.name);
        world.clock.advance_millis(APART_MILLIS);
        self.begun = world.clock.now().to_string();
        let state_before = if is_watched { Some(self.watched.state().await) } else { None };
        let dry = trial.send(world, "?dry_run=true").await;
        assert_eq!(dry.header("x-dry-run"), Some("true"), "{what}");
        if let Some(stored_state) = state_before {
            assert_eq!(self.watched.state().await, stored_state, "{what}: the dry run changed rows");
        }
        let real = trial.send(world, "").await;
        assert_eq!(real.header("x-dry-run"), None, "{what}");
        if real.status >= 300 {
            assert_eq!(dry.status, real.status, "{what}: {} {}", dry.text(), real.text());
            assert_eq!(dry.without_request_id(), real.without_request_id(), "{what}");
            for name in ["retry-after", "candor-should-retry", "www-authenticate"] {
                assert_eq!(dry.header(name), real.header(name), "{what}");
            }
        } else {
            self.compare_effects(trial, &what, &dry, &real).await;
        }
        real
    }

    async fn compare_effects(&mut self, trial: &Trial, what: &str, dry: &TestResponse, real: &TestResponse) {
        assert_eq!(dry.status, 200, "{what}: {} {}", dry.text(), real.text());
        for name in ["etag", "location", "idempotent-replayed"] {
            assert_eq!(dry.header(name), None, "{what}: {name}");
        }
        let dry_body = dry.json();
        assert_eq!((&dry_body["dry_run"], &dry_body["status"]), (&json!(true), &json!(real.status)), "{what}");
        let now = self.watched.world.clock.now().millis().unsigned_abs();
        let body = if real.body.is_empty() { Value::Null } else { real.json() };
        assert_eq!(difference(&dry_body["data"], &body, "data", now), None, "{what}: {dry_body} {body}");
        let changes = self.changes(trial, real).await;
        assert_eq!(
            difference(&dry_body["changes"], &changes, "changes", now),
            None,
            "{what}: {dry_body} {changes}"
        );
        // The feed orders events of one change by id.
        let mut expected_events: Vec<_> =
            dry_body["events"].as_array().unwrap().iter().map(|kind| kind.as_str().unwrap()).collect();
        expected_events.sort_unstable();
        assert_eq!(self.events(expected_events.len()).await, expected_events, "{what}");
        assert_eq!(dry_body["notifications"], json!(self.notifications().await), "{what}");
    }

    /// Returns the changes in the audit entry of a request.
    async fn changes(&self, trial: &Trial, real: &TestResponse) -> Value {
        let world = &self.watched.world;
        let entries = world.get("/v1/audit-log?limit=20").await.json()["data"].as_array().unwrap().clone();
        let request = real.header("x-request-id").unwrap();
        let of_request: Vec<_> = entries.iter().filter(|entry| entry["request_id"] == request).collect();
        let is_of_path = |entry: &&&Value| trial.path.contains(entry["target"]["id"].as_str().unwrap());
        let main = of_request.iter().find(is_of_path).or(of_request.first());
        main.map_or_else(|| json!({}), |entry| entry["changes"].clone())
    }

    /// Returns the sorted types of the events of the request, at least `expected` of them.
    async fn events(&mut self, expected: usize) -> Vec<String> {
        let (begun, mut types) = (Instant::now(), vec![]);
        loop {
            let page =
                self.watched.world.get(&format!("/v1/events?limit=100&cursor={}", self.cursor)).await.json();
            let page_events = page["data"].as_array().unwrap();
            let of_request = page_events.iter().filter(|event| event["created_at"].as_str() >= Some(&*self.begun));
            types.extend(of_request.map(|event| event["event"].as_str().unwrap().to_owned()));
            self.cursor = page["next_cursor"].as_str().unwrap().to_owned();
            if types.len() >= expected && page["has_more"] == json!(false) {
                types.sort_unstable();
                return types;
            }
            assert!(begun.elapsed() < PATIENCE, "the feed has only {types:?} of {expected} events");
            tokio::task::yield_now().await;
        }
    }

    /// Returns the number of notifications created at the current time of the test clock.
    async fn notifications(&self) -> usize {
        let world = &self.watched.world;
        let page = world.get("/v1/notifications?limit=100").await.json();
        let now = world.clock.now().to_string();
        page["data"].as_array().unwrap().iter().filter(|notification| notification["created_at"] == now).count()
    }
}

/// Returns the first difference between the value in a dry run and the real value. A dry run shows null for values
/// that only the real request creates: ids with the time `now`, and secrets.
fn difference(dry: &Value, real: &Value, at: &str, now: u64) -> Option<String> {
    let is_secret = ["key", "last4", "secret", "url"].iter().any(|name| at.ends_with(&format!(".{name}")));
    let is_made = |text: &str| {
        let ulid = text.rsplit_once('_').and_then(|(_, ulid)| Ulid::from_string(ulid).ok());
        ulid.is_some_and(|ulid| ulid.timestamp_ms() == now)
    };
    match (dry, real) {
        (Value::Object(dry), Value::Object(real)) => {
            if dry.keys().ne(real.keys()) {
                return Some(format!("{at}: other members"));
            }
            dry.iter().find_map(|(name, member)| difference(member, &real[name], &format!("{at}.{name}"), now))
        }
        (Value::Array(dry), Value::Array(real)) if dry.len() == real.len() => {
            dry.iter().zip(real).find_map(|(dry, real)| difference(dry, real, at, now))
        }
        (Value::Null, Value::String(text)) if is_made(text) || is_secret => None,
        (Value::Null, Value::String(_)) if at.ends_with(".to") && at.contains(".last4.") => None,
        (_, Value::String(text)) if is_made(text) => Some(format!("{at}: {dry} instead of null")),
        _ => (dry != real).then(|| format!("{at}: {dry} instead of {real}")),
    }
}
