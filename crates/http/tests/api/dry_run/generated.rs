//! Generated requests: each is sent as a dry run and then for real.

use std::collections::BTreeMap;

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions};
use candor_http::table::{DryRun, Method, Route};
use candor_store_testkit::Random;
use candor_test_explore::seed;
use serde_json::{Value, json};

use super::compare::{Comparison, Trial};
use super::routes_with;
use super::watched::WatchedService;
use crate::objectives::key_for;
use crate::resources::{Resources, absent, family, method, path};
use crate::support::TestApi;

/// Number of requests on SQLite.
const REQUESTS: usize = 2_000;
/// Number of requests on PostgreSQL: fewer, because the test reads all rows around every third request.
const REQUESTS_ON_SERVER: usize = 300;
/// Milliseconds between requests, so that failed authentications stay below their limit.
const PAUSE_MILLIS: i64 = 2_500;
/// Maximum number of ids of each kind that requests choose from.
const MAX_IDS: usize = 12;

/// Generates random requests from one seed.
pub(crate) struct Generator {
    pub(crate) random: Random,
    pub(crate) resources: Resources,
    /// Ids by the first segment of the path.
    ids: BTreeMap<&'static str, Vec<String>>,
    keys: Vec<String>,
    tags: Vec<String>,
}

/// Creates the resources, and keys with all, some and few rights. Four of the seven are the same key of an admin, so
/// that most requests have all rights.
pub(crate) async fn make_resources(world: &TestApi) -> (Resources, Vec<String>) {
    let resources = Resources::make(world, &world.admin).await;
    let standard = world.key(Permissions::ALL, AccessLevel::Standard, Environment::Live).await;
    let narrow = world.scoped(&[Permission::EmployeesWrite, Permission::ObservationsWrite]).await;
    let bound_key = key_for(world, resources.id("employees"), AccessLevel::Standard).await;
    let admin = world.admin.clone();
    let keys = vec![admin.clone(), admin.clone(), admin.clone(), admin, standard, bound_key, narrow];
    (resources, keys)
}

impl Generator {
    async fn new(watched: &WatchedService, seed: u64) -> Self {
        let (resources, keys) = make_resources(&watched.world).await;
        Self::with(resources, keys, seed)
    }

    /// Creates a generator of requests with these keys.
    pub(crate) fn with(resources: Resources, keys: Vec<String>, seed: u64) -> Self {
        let random = Random::new(seed);
        Self { random, resources, ids: BTreeMap::new(), keys, tags: vec!["*".to_owned(), "\"1\"".to_owned()] }
    }

    pub(crate) fn trial(&self, routes: &[&'static Route]) -> (&'static Route, Trial) {
        let route = *self.random.pick(routes);
        let path = if route.path.contains("{id}") && self.random.chance(97) {
            path(route, &self.id(family(route)), self.resources.id("deliveries"))
        } else if route.path.contains("{id}") {
            path(route, absent(route), absent(route))
        } else {
            self.resources.path(route)
        };
        let body = self.resources.body(route).map(|body| self.mutated(body));
        let if_match = if route.is_conditional() { self.random.maybe(5, &self.tags) } else { None };
        let key = self.random.pick(&self.keys).clone();
        (route, Trial { method: method(route), path, key, body, if_match })
    }

    /// Returns the id of a resource, mostly of one that an earlier request made.
    pub(crate) fn id(&self, family: &str) -> String {
        match self.ids.get(family) {
            Some(ids) if self.random.chance(80) => self.random.pick(ids).clone(),
            _ => self.resources.id(family).to_owned(),
        }
    }

    /// Returns the body with other members and values, some of them wrong.
    fn mutated(&self, body: Value) -> Value {
        let Value::Object(mut members) = body else { return body };
        let names: Vec<String> = members.keys().cloned().collect();
        for name in &names {
            if self.random.chance(50) {
                members.insert(name.clone(), self.value(name));
            } else if self.random.chance(2) {
                members.remove(name);
            }
        }
        const OTHERS: [&str; 17] = [
            "manager_id",
            "department_id",
            "external_id",
            "custom_fields",
            "metadata",
            "send_invite",
            "attribute_ids",
            "status",
            "period_end",
            "participant_ids",
            "scopes",
            "rotate_secret",
            "reason",
            "included_observation_ids",
            "parent_id",
            "key_results",
            "unknown",
        ];
        for name in OTHERS {
            if self.random.chance(1) {
                members.insert(name.to_owned(), self.value(name));
            }
        }
        Value::Object(members)
    }

    pub(crate) fn value(&self, name: &str) -> Value {
        if self.random.chance(2) {
            return self.random.pick(&[json!(null), json!(7), json!(""), json!([]), json!({"a": 1})]).clone();
        }
        let word = |words: &[&str]| json!(self.random.pick(words));
        match name {
            "email" => json!(format!("{}@example.com", self.random.pick(&["ada", "Ada", "bo", "cy", "di", "ed"]))),
            "name" => word(&["Care", "care", "Calm", "Another", "Third", "Fourth"]),
            "external_id" => word(&["hr-1", "hr-2", "hr-3"]),
            "employee_id" | "owner_id" | "manager_id" | "reviewer_id" | "author_id" | "recipient_id" => {
                json!(self.id("employees"))
            }
            "department_id" => json!(self.id("departments")),
            "attribute_ids" => json!([self.id("attributes")]),
            "included_observation_ids" => json!([self.id("observations"), self.id("observations")]),
            "included_objective_ids" => json!([self.id("employee-objectives"), self.id("manager-objectives")]),
            "participant_ids" | "reviewer_ids" => json!([self.id("employees"), self.id("invited")]),
            "custom_fields" => {
                json!({"city": self.random.pick(&["Oslo", "Rome"]), "floor": self.random.number_below(3)})
            }
            "metadata" => {
                json!({"cycle": self.random.pick(&["h1", "h2"]), "source": self.random.pick(&[Some("form"), None])})
            }
            "progress" => json!(self.random.number_below(102)),
            "confidence" => word(&["on_track", "at_risk", "off_track"]),
            "key_results" => {
                let result = json!({"title": "Talks", "target": 10.5, "weight": 1 + self.random.number_below(3)});
                json!(vec![result; self.random.number_below(3)])
            }
            "parent_id" => json!(self.id("manager-objectives")),
            "send_invite" | "rotate_secret" | "acknowledged" => json!(self.random.chance(50)),
            "status" => word(&["proposed", "approved", "in_progress", "completed", "archived"]),
            "period_start" | "period_end" => word(&["2026-03-01", "2026-04-01", "2026-06-30"]),
            "scopes" => json!([self.random.pick(&["employees:read", "events:read", "*", "nothing"])]),
            "url" => word(&[
                "https://a.example/",
                "https://b.example/",
                "http://c.example/",
                "https://private.example/",
            ]),
            "event_types" => json!([self.random.pick(&["*", "employee.created", "employee.updated"])]),
            "observations" => {
                let text = self.random.pick(&["Helps.", "Listens.", ""]);
                let observation =
                    json!({"type": "strength", "observation": text, "attribute_ids": [self.id("attributes")]});
                json!(vec![observation; 1 + self.random.number_below(3)])
            }
            "type" => word(&["strength", "opportunity", "csv_feed"]),
            "about" => json!({"type": "employee", "id": self.id("employees")}),
            "hris_source" => word(&["acme", "other"]),
            "brake" => json!({"percent": 10 + self.random.number_below(80)}),
            "employee_ids" => json!([self.id("employees")]),
            "access_level" => word(&["standard", "admin"]),
            _ => word(&["One", "Two", "A longer text than the others."]),
        }
    }

    /// Keeps the id and the tag of a resource that a request made or changed.
    pub(crate) fn note(&mut self, route: &Route, answered: &crate::support::TestResponse) {
        self.tags.extend(answered.header("etag").map(str::to_owned));
        if answered.status != 201 || ["/messages", "/check-ins"].iter().any(|end| route.path.ends_with(end)) {
            return;
        }
        let id = answered.json()["id"].as_str().unwrap().to_owned();
        let ids = self.ids.entry(family(route)).or_default();
        if ids.len() < MAX_IDS {
            ids.push(id);
        } else {
            ids[self.random.number_below(MAX_IDS)] = id;
        }
    }
}

/// Compares generated requests. Returns the number of real answers by status.
async fn compare_generated(
    watched: &WatchedService,
    seed: u64,
    requests: usize,
    watch_one_in: usize,
) -> BTreeMap<u16, usize> {
    let mut generator = Generator::new(watched, seed).await;
    let routes: Vec<_> = routes_with(DryRun::Effects).collect();
    let mut comparison = Comparison::new(watched).await;
    let mut statuses = BTreeMap::new();
    for number in 0..requests {
        watched.world.clock.advance_millis(PAUSE_MILLIS);
        let (route, trial) = generator.trial(&routes);
        let real = comparison.compare(&trial, number % watch_one_in == 0).await;
        generator.note(route, &real);
        *statuses.entry(real.status).or_default() += 1;
    }
    assert!(routes.iter().any(|route| route.method == Method::Delete), "removals are among the requests");
    statuses
}

fn assert_variety(statuses: &BTreeMap<u16, usize>, requests: usize) {
    for status in [200, 201, 204, 400, 403, 404, 409, 412, 422] {
        assert!(statuses.contains_key(&status), "no request was answered with {status}: {statuses:?}");
    }
    let success_count: usize = statuses.iter().filter(|(status, _)| **status < 300).map(|(_, count)| count).sum();
    assert!(success_count * 5 > requests, "too few requests succeed: {statuses:?}");
}

#[tokio::test]
async fn generated_dry_runs_equal_real_requests_on_sqlite() {
    let statuses = compare_generated(&WatchedService::on_sqlite().await, seed(1), REQUESTS, 1).await;
    assert_variety(&statuses, REQUESTS);
}

#[tokio::test]
async fn generated_dry_runs_equal_real_requests_on_postgres() {
    let Some(watched_store) = WatchedService::on_postgres().await else { return };
    let statuses = compare_generated(&watched_store, seed(2), REQUESTS_ON_SERVER, 3).await;
    assert!(statuses.len() > 5, "{statuses:?}");
}
