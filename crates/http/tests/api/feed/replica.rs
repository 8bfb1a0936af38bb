//! Random schedules of concurrent writers with failing commits: a copy made from the lists or from an export
//! during the writes, and then from the feed, equals the stored data.

use std::cell::RefCell;

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_domain::erasure::INDEX_SECONDS;
use candor_http::table::{Body, Method, Route};
use candor_port_storage::Storage;
use candor_service::runtime::erasure;
use candor_service::runtime::objective_autostart::due_objectives;
use candor_service::usecases::operator;
use candor_store_testkit::{Fault, Faulty, FaultyCall, Random};
use candor_test_explore as explore;
use futures_util::future::join_all;
use serde_json::json;

use super::copy::{Reader, comparable};
use crate::dry_run::generated::Generator;
use crate::resources::{Resources, family, routes_of_v1};
use crate::stores::every_faulty_store;
use crate::support::TestApi;

/// Number of schedules on each store in the gate, and in an exploration.
const SCHEDULES: [usize; 2] = [16, 200];
/// Number of concurrent writers.
const WRITERS: usize = 4;
/// Number of requests of each writer.
const REQUESTS: usize = 10;
/// Highest position of a failing list read, counted from the beginning of an export.
const MOST_READS: usize = 40;
/// Milliseconds by which the clock advances before each request.
const PAUSE_MILLIS: i64 = 2_500;

/// Returns the writes that schedules choose from: all writes to the data set, whether they have a dry run or not.
fn routes() -> Vec<&'static Route> {
    let is_of_data = |route: &&Route| {
        let others = ["webhooks", "api-keys", "portal-links", "notifications", "test-data", "invitations"];
        route.method != Method::Get && !others.contains(&family(route)) && route.body != Body::Csv
    };
    routes_of_v1().filter(is_of_data).collect()
}

/// Returns fields that a change of the route's resource may have.
fn fields(route: &Route) -> &'static [&'static str] {
    match family(route) {
        "observations" => &["observation", "impact", "attribute_ids", "metadata", "external_id"],
        "employee-objectives" | "manager-objectives" => &[
            "title",
            "description",
            "period_end",
            "status",
            "key_results",
            "parent_id",
            "metadata",
            "external_id",
        ],
        "employees" => &["last_name", "manager_id", "department_id", "custom_fields", "job_title", "external_id"],
        "attributes" => &["name", "category"],
        "conversations" => &["title", "participant_ids"],
        "summaries" => {
            &["title", "body", "included_observation_ids", "included_objective_ids", "metadata", "external_id"]
        }
        "departments" | "organization" => &["name"],
        "connectors" => &["brake"],
        "identity-providers" => &["name", "session_lifetime", "email_domains", "audiences"],
        other => panic!("{other} needs its fields here"),
    }
}

/// Sends the requests of one writer.
async fn write(world: &TestApi, generator: &RefCell<Generator>, faulty: &Faulty<dyn Storage>, random: &Random) {
    let routes = routes();
    for _ in 0..REQUESTS {
        world.clock.advance_millis(PAUSE_MILLIS);
        if random.chance(15) {
            let fault = *random.pick(&[Fault::Before, Fault::After]);
            faulty.fail(FaultyCall::Commit, 1 + random.number_below(3), fault);
        }
        let (route, mut trial) = generator.borrow().trial(&routes);
        if let (Method::Patch, Some(body)) = (route.method, &mut trial.body) {
            let name = *random.pick(fields(route));
            body[name] = generator.borrow().value(name);
        }
        let response = trial.send(world, "").await;
        generator.borrow_mut().note(route, &response);
        if random.chance(10) {
            // A failing commit stops this run. The next run does the rest.
            drop(due_objectives(&world.services, || true).await);
            drop(erasure::run_due(&world.services, || true).await);
        }
    }
}

/// Commits until no planned fault is left, so that none hits the next schedule. Each commit renames the organization;
/// returns the name in the last one.
async fn exhaust_faults(world: &TestApi, key: &str, seed: u64) -> String {
    let mut name = String::new();
    for number in 0..4 {
        world.clock.advance_millis(PAUSE_MILLIS);
        name = format!("Example {seed} {number}");
        world.bare("PATCH", "/v1/organization").key(key).json(&json!({"name": name})).send().await;
    }
    name
}

/// Source of the first state of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// All lists are read page by page.
    Lists,
    /// An export is read, which breaks off at failing reads.
    Export,
}

/// Runs one schedule. Returns the number of events that the copy followed.
async fn follow(world: &TestApi, faulty: &Faulty<dyn Storage>, start: Start, seed: u64) -> usize {
    let organization = operator::create_organization(&world.services, "Example").await.unwrap();
    let key = world.key_of(organization, Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
    let resources = Resources::make(world, &key).await;
    let generator = RefCell::new(Generator::with(resources, vec![key.clone()], seed));
    let reader = Reader { world, key: &key };
    let random = Random::new(seed);
    write(world, &generator, faulty, &random).await;
    let begin = async {
        match start {
            Start::Lists => {
                let cursor = reader.end_cursor().await;
                (reader.read().await, cursor)
            }
            Start::Export => {
                for _ in 0..random.number_below(4) {
                    faulty.fail(FaultyCall::List, 1 + random.number_below(MOST_READS), Fault::Before);
                }
                reader.export().await
            }
        }
    };
    let writers = join_all((0..WRITERS).map(|_| write(world, &generator, faulty, &random)));
    let ((mut copy, cursor), _) = tokio::join!(begin, writers);
    for _ in 0..4 {
        drop(erasure::run_due(&world.services, || true).await);
        world.clock.advance_seconds(INDEX_SECONDS);
    }
    let name = exhaust_faults(world, &key, seed).await;
    if start == Start::Export {
        for _ in 0..MOST_READS {
            world.bare("GET", "/v1/departments").key(&key).send().await;
        }
    }
    let events = reader.events_until(&cursor, &name).await;
    let count = events.len();
    copy.apply(events);
    // Both are compared without the rows that legal holds keep: a change of such a row fires an event with the
    // whole row, and a conversation about the erased person can still begin.
    let (copy, stored) = (copy.without_kept(), reader.read().await.without_kept());
    let (copy, stored) = match start {
        Start::Lists => (copy, stored),
        Start::Export => (copy.exported(), stored.exported()),
    };
    let (stored, derived) = (comparable(&stored), copy.derived());
    assert_eq!(derived.keys().collect::<Vec<_>>(), stored.keys().collect::<Vec<_>>(), "schedule {seed}");
    for (id, value) in &stored {
        assert_eq!(&derived[id], value, "schedule {seed}: {id}");
    }
    count
}

#[tokio::test]
async fn copy_from_lists_and_feed_equals_the_stored_data() {
    for (world, faulty, _database) in every_faulty_store().await {
        let mut followed_count = 0;
        let schedules = explore::size(SCHEDULES[0], SCHEDULES[1]);
        for number in 1..=schedules as u64 {
            followed_count += follow(&world, &faulty, Start::Lists, explore::seed(number)).await;
        }
        assert!(followed_count > 5 * schedules, "{followed_count} events are too few for a proof");
    }
}

#[tokio::test]
async fn copy_from_export_and_feed_equals_the_stored_data() {
    for (world, faulty, _database) in every_faulty_store().await {
        let mut followed_count = 0;
        let schedules = explore::size(SCHEDULES[0], SCHEDULES[1]);
        for number in 1..=schedules as u64 {
            followed_count += follow(&world, &faulty, Start::Export, explore::seed(number)).await;
        }
        assert!(followed_count > 5 * schedules, "{followed_count} events are too few for a proof");
    }
}
