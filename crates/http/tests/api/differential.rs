//! Sends the same random requests to both stores: each answer on SQLite equals that on PostgreSQL, byte for byte. Ids, secrets
//! and times come from seeds and a manual clock on both. Only cursors, which name rows of the store, are left out, and the tables
//! that PostgreSQL has to rewrite after an erasure.

use std::collections::BTreeMap;

use candor_http::table::{Body, Dialect, Method, ROUTES, Route};
use candor_store_testkit::Random;
use candor_test_explore::{seed, size};
use candor_test_postgres::TestDatabase;
use serde_json::{Value, json};

use crate::documented::document_of;
use crate::dry_run::compare::Trial;
use crate::dry_run::generated::{Generator, make_resources};
use crate::hostile::encode;
use crate::resources::{absent, method, needs_sign_in, path};
use crate::stores;
use crate::support::{TestApi, TestResponse, patient_settings};

/// Number of requests in the gate, and in an exploration.
const REQUESTS: (usize, usize) = (4_000, 100_000);
/// Milliseconds between requests, so that quotas and failed authentications stay below their limits.
const PAUSE_MILLIS: i64 = 2_500;
/// Number of requests between two attempts of all deliveries.
const DELIVERY_INTERVAL: usize = 97;

/// Operations that are not requested, each with the reason.
const LEFT_OUT: [(&str, &str); 1] =
    [("listEvents", "on PostgreSQL the feed waits for transactions of other tests")];
/// A service on each store, both in the same state.
struct Pair {
    sqlite: TestApi,
    postgres: TestApi,
    _database: TestDatabase,
}

/// A request to both services, and the cursors that each of them has given for its path.
struct Asked {
    trial: Trial,
    csv: Option<String>,
    cursors: Option<[String; 2]>,
}

impl Pair {
    /// Returns `None` if this machine has no PostgreSQL.
    async fn new() -> Option<Self> {
        let (store, database) = stores::on_a_server().await?;
        let sqlite = TestApi::on(std::sync::Arc::new(stores::in_memory()), patient_settings()).await;
        let postgres = TestApi::on(store, patient_settings()).await;
        Some(Self { sqlite, postgres, _database: database })
    }

    fn advance(&self, millis: i64) {
        self.sqlite.clock.advance_millis(millis);
        self.postgres.clock.advance_millis(millis);
    }

    async fn send(&self, asked: &Asked) -> [TestResponse; 2] {
        let cursor = |store: usize| asked.cursors.as_ref().map_or("", |cursors| cursors[store].as_str());
        [asked.send(&self.sqlite, cursor(0)).await, asked.send(&self.postgres, cursor(1)).await]
    }
}

impl Asked {
    async fn send(&self, world: &TestApi, cursor: &str) -> TestResponse {
        let Trial { method, path, key, .. } = &self.trial;
        if let Some(csv) = &self.csv {
            return world
                .bare(method, path)
                .key(key)
                .header("content-type", "text/csv")
                .body(csv.clone())
                .send()
                .await;
        }
        let query = match cursor {
            "" => String::new(),
            _ => format!("{}cursor={}", if path.contains('?') { '&' } else { '?' }, encode(cursor)),
        };
        self.trial.send(world, &query).await
    }
}

/// Creates the same resources on both stores, and a generator of requests for both.
async fn prepare(pair: &Pair, seed: u64) -> Generator {
    let mut stages = vec![];
    for world in [&pair.sqlite, &pair.postgres] {
        stages.push(make_resources(world).await);
    }
    let (_, keys_on_postgres) = stages.pop().unwrap();
    let (resources, keys) = stages.pop().unwrap();
    assert_eq!(keys, keys_on_postgres, "both stores begin in the same state");
    Generator::with(resources, keys, seed)
}

/// Returns names and schemas of a route's query parameters, with references resolved.
fn parameters(route: &Route) -> Vec<(String, Value)> {
    let document = document_of(route);
    let resolve = |item: &Value| match item["$ref"].as_str() {
        Some(reference) => document.pointer(&reference[1..]).unwrap().clone(),
        None => item.clone(),
    };
    let operation = &document["paths"][route.path][method(route).to_lowercase()];
    let all = operation["parameters"].as_array().into_iter().flatten().map(resolve);
    all.filter(|item| item["in"] == "query")
        .map(|item| (item["name"].as_str().unwrap().to_owned(), resolve(&item["schema"])))
        .map(
            |(name, schema)| {
                if schema["items"].is_object() { (name, resolve(&schema["items"])) } else { (name, schema) }
            },
        )
        .collect()
}

/// Returns a random value of a query parameter: of the right kind, mostly.
fn parameter_value(generator: &Generator, name: &str, schema: &Value) -> String {
    let random = &generator.random;
    let words = schema["enum"].as_array().or_else(|| schema["anyOf"][0]["enum"].as_array());
    if let Some(words) = words {
        return random.pick(words).as_str().unwrap_or("true").to_owned();
    }
    match name {
        "limit" => (1 + random.number_below(5)).to_string(),
        "q" => (*random.pick(&["calm", "li", "ada", "one text", "another"])).to_owned(),
        "group_by" => (*random.pick(&["month", "type", "employee_id,month"])).to_owned(),
        _ if name.ends_with("[gte]") || name.ends_with("[lte]") => {
            (*random.pick(&["2026-03-02T09:05:00.000Z", "2026-03-02T10:00:00.000Z", "2026-04-01"])).to_owned()
        }
        _ if schema["type"] == "boolean" => random.chance(50).to_string(),
        _ => {
            let member = name.trim_end_matches(']').rsplit('[').next().unwrap_or(name);
            let value = generator.value(member);
            value.as_str().map_or_else(|| value.to_string(), str::to_owned)
        }
    }
}

/// Returns a file of people. Some rows are wrong, and some people are there already.
fn csv(random: &Random) -> String {
    let mut file = "email,first_name,last_name,manager_email,status,custom.city\n".to_owned();
    for _ in 0..=random.number_below(3) {
        let email =
            random.pick(&["ada@example.com", "bo@example.com", "cy@example.com", "wrong", "di@example.com"]);
        let manager = random.pick(&["", "", "ada@example.com", "nobody@example.com"]);
        let status = random.pick(&["", "active", "deactivated"]);
        let city = random.pick(&["", "Oslo", "Rome"]);
        file += &format!("{email},First,Last,{manager},{status},{city}\n");
    }
    file
}

/// Returns the next request with its route.
fn next(
    generator: &Generator,
    routes: &[&'static Route],
    cursors: &BTreeMap<String, [String; 2]>,
) -> (&'static Route, Asked) {
    let random = &generator.random;
    let (route, mut trial) = generator.trial(routes);
    if route.dialect == Dialect::Scim {
        trial.key = generator.resources.id("scim-keys").to_owned();
        if route.path.contains("{id}") && random.chance(10) {
            trial.path = path(route, absent(route), absent(route));
        }
    } else if random.chance(1) {
        trial.key = "cdr_live_unknown".to_owned();
    }
    if route.method == Method::Get {
        if random.chance(40) {
            trial.path = generator.resources.path(route);
        }
        let all = parameters(route);
        let asked_parameters = all
            .iter()
            .filter(|(name, _)| name != "cursor" && random.chance(if name == "limit" { 60 } else { 15 }));
        let query: Vec<String> = asked_parameters
            .filter(|(name, _)| !trial.path.contains(&format!("?{name}=")))
            .map(|(name, schema)| {
                format!("{}={}", encode(name), encode(&parameter_value(generator, name, schema)))
            })
            .collect();
        if !query.is_empty() {
            trial.path += if trial.path.contains('?') { "&" } else { "?" };
            trial.path += &query.join("&");
        }
        if random.chance(25) && !cursors.is_empty() {
            let paths: Vec<_> = cursors.iter().collect();
            let (path_and_key, known_cursors) = *random.pick(&paths);
            let (path, key) = path_and_key.split_once(' ').unwrap();
            let asked_again = Trial { path: path.to_owned(), key: key.to_owned(), ..trial };
            let route = crate::documented::route(&actix_web::http::Method::GET, path).unwrap();
            return (route, Asked { trial: asked_again, csv: None, cursors: Some(known_cursors.clone()) });
        }
    }
    let csv = (route.body == Body::Csv).then(|| csv(random));
    (route, Asked { trial, csv, cursors: None })
}

/// Returns the first request to a read: of a resource that is there, by a key that may read it.
fn first_read(generator: &Generator, route: &'static Route, admin: &str) -> (&'static Route, Asked) {
    let (route, trial) = generator.trial(&[route]);
    let (path, key) = (generator.resources.path(route), generator.resources.key(route, admin).to_owned());
    (route, Asked { trial: Trial { path, key, ..trial }, csv: None, cursors: None })
}

/// Returns what both stores must agree on: status, headers and body without cursors.
pub(crate) fn agreed(response: &TestResponse) -> (u16, Vec<(String, String)>, String) {
    let mut headers: Vec<_> = response
        .headers
        .iter()
        .filter(|(name, _)| name.as_str() != "content-length")
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    let without_members_of_stores = |line: &str| match serde_json::from_str(line) {
        Ok(mut value) => {
            hide_members_of_stores(&mut value);
            value.to_string()
        }
        Err(_) => line.to_owned(),
    };
    let lines: Vec<_> = response.text().lines().map(without_members_of_stores).collect();
    (response.status, headers, lines.join("\n"))
}

/// Replaces what depends on the store by a word, at any depth: cursors, and tables that PostgreSQL has to rewrite. A missing cursor
/// stays null.
fn hide_members_of_stores(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                if (name.ends_with("cursor") && member.is_string()) || name == "tables_to_rewrite" {
                    *member = json!("depends on the store");
                }
                hide_members_of_stores(member);
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(hide_members_of_stores),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn next_cursor(response: &TestResponse) -> Option<String> {
    let body: Value = serde_json::from_slice(&response.body).ok()?;
    body["next_cursor"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn random_requests_have_equal_answers_on_both_stores() {
    let Some(pair) = Pair::new().await else { return };
    let drawn_seed = seed(3);
    let mut generator = prepare(&pair, drawn_seed).await;
    let is_requested =
        |route: &&Route| !needs_sign_in(route) && LEFT_OUT.iter().all(|(name, _)| *name != route.operation);
    let routes: Vec<&'static Route> = ROUTES.iter().filter(is_requested).collect();
    let reads: Vec<&'static Route> = routes.iter().copied().filter(|route| route.method == Method::Get).collect();
    let mut cursors = BTreeMap::new();
    let mut statuses: BTreeMap<&str, BTreeMap<u16, usize>> = BTreeMap::new();
    let requests = size(REQUESTS.0, REQUESTS.1);
    for number in 0..requests {
        pair.advance(PAUSE_MILLIS);
        if number % DELIVERY_INTERVAL == 0 {
            let status = if generator.random.chance(70) { 204 } else { 500 };
            let attempts = [pair.sqlite.attempt_all(status).await, pair.postgres.attempt_all(status).await];
            assert_eq!(attempts[0].len(), attempts[1].len(), "seed {drawn_seed}, before request {number}");
        }
        let (route, asked) = match reads.get(number) {
            Some(read) => first_read(&generator, read, &pair.sqlite.admin),
            None => next(&generator, &routes, &cursors),
        };
        let [sqlite, postgres] = pair.send(&asked).await;
        let what =
            format!("seed {drawn_seed}, request {number}: {} {:?} {:?}", route.operation, asked.trial, asked.csv);
        assert_eq!(agreed(&sqlite), agreed(&postgres), "{what}");
        if route.method != Method::Get {
            generator.note(route, &sqlite);
        } else if let (Some(one), Some(other)) = (next_cursor(&sqlite), next_cursor(&postgres)) {
            cursors.insert(format!("{} {}", asked.trial.path, asked.trial.key), [one, other]);
        }
        *statuses.entry(route.operation).or_default().entry(sqlite.status).or_default() += 1;
    }
    assert_reached(&routes, &statuses, requests);
}

/// Asserts that the requests were of all kinds, and prints their statuses by operation.
fn assert_reached(routes: &[&Route], reached: &BTreeMap<&str, BTreeMap<u16, usize>>, requests: usize) {
    reached.iter().for_each(|(operation, statuses)| println!("{operation}: {statuses:?}"));
    let counts = || reached.values().flatten();
    let successes: usize = counts().filter(|(status, _)| **status < 300).map(|(_, count)| count).sum();
    println!("{successes} of {requests} requests succeed");
    assert!(successes * 100 > requests * 40, "too few requests succeed: {successes} of {requests}");
    for status in [200, 201, 204, 400, 401, 403, 404, 409, 412, 422] {
        assert!(counts().any(|(one, _)| *one == status), "no request was answered with {status}");
    }
    // The test of all dry runs compares a success of each write.
    let is_reached = |route: &&Route| {
        let statuses = reached.get(route.operation);
        statuses.is_some_and(|statuses| statuses.keys().any(|status| *status < 300))
    };
    let reads = routes.iter().copied().filter(|route| route.method == Method::Get);
    let missing: Vec<_> = reads.filter(|route| !is_reached(route)).map(|route| route.operation).collect();
    assert_eq!(missing, [""; 0], "reads without a success");
}
