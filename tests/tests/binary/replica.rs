//! Tests reads from a lagging standby, and fallback to the primary while the standby is down.

use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::support::{Client, Installation, PATIENCE, PrimaryAndStandby, Proxy, Service, candor, wait_until};

const WRITERS: usize = 4;
/// Number of observations per writer.
const WRITES: usize = 60;

const UP: &str = "candor_store_replica_up";
const LAG: &str = "candor_store_replica_lag_seconds";
const READS: &str = "candor_store_replica_reads_total";
const FALLBACKS: &str = "candor_store_replica_fallbacks_total";
const FEED: &str = "/v1/events?filter[event]=observation.created";

/// A primary with a standby, and a service that is configured with both.
struct ReplicaTest {
    pair: PrimaryAndStandby,
    place: Installation,
    key: String,
    employee: String,
}

impl ReplicaTest {
    fn new() -> Option<Self> {
        let pair = PrimaryAndStandby::start()?;
        let place = Installation::with_database(&pair.primary.url());
        let key = place.key("*", &["--admin"]).secret;
        let service = Service::serve(&place);
        let body = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace"});
        let employee = text(&create_resource(&mut service.client(&key), "/v1/employees", &body)["id"]);
        service.stop();
        let place = place.with("CANDOR_DATABASE_REPLICA_URL", &pair.standby.url());
        Some(Self { pair, place, key, employee })
    }

    fn observe(&self, client: &mut Client, what: &str) -> String {
        let body = json!({"employee_id": self.employee, "type": "strength", "observation": what});
        text(&create_resource(client, "/v1/observations", &body)["id"])
    }
}

fn create_resource(client: &mut Client, path: &str, body: &Value) -> Value {
    let response = client.post(path, body).unwrap();
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_owned()
}

/// Returns the ids of the observations on a feed page, and the next cursor.
fn page(client: &mut Client, cursor: Option<&str>) -> (Vec<String>, String) {
    let cursor = cursor.map_or(String::new(), |cursor| format!("&cursor={cursor}"));
    let response = client.get(&format!("{FEED}&limit=100{cursor}")).unwrap();
    assert_eq!(response.status, 200, "{}", response.text());
    let page = response.json();
    let observation_ids = page["data"].as_array().unwrap().iter().map(|item| text(&item["data"]["id"])).collect();
    (observation_ids, text(&page["next_cursor"]))
}

fn is_told(client: &mut Client, observation: &str) -> bool {
    client.all(FEED).iter().any(|item| item["data"]["id"] == observation)
}

fn is_noted(client: &mut Client, observation: &str) -> bool {
    client
        .all("/v1/audit-log?filter[action]=observation.create")
        .iter()
        .any(|item| item["target"]["id"] == observation)
}

fn metric(service: &Service, name: &str) -> u64 {
    read(service, name)
}

fn read<T: FromStr + Default>(service: &Service, name: &str) -> T {
    let text = service.anonymous().unwrap().get("/metrics").unwrap().text();
    let line = text.lines().find(|line| line.strip_prefix(name).is_some_and(|line| line.starts_with(' ')));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or_default()
}

fn lags(service: &Service) -> bool {
    read::<f64>(service, LAG) > 0.0
}

#[test]
fn replica_serves_only_reads_that_may_lag() {
    let Some(test) = ReplicaTest::new() else { return };
    let service = Service::serve(&test.place);
    let mut client = service.client(&test.key);
    let first_observation = test.observe(&mut client, "Before");
    assert!(wait_until(PATIENCE, || is_told(&mut client, &first_observation)).is_some(), "{}", service.log());
    assert!(wait_until(PATIENCE, || is_noted(&mut client, &first_observation)).is_some());
    assert_eq!((metric(&service, UP), metric(&service, FALLBACKS)), (1, 0), "{}", service.log());
    let reads = metric(&service, READS);
    assert!(reads >= 2, "{reads}");
    assert!(wait_until(PATIENCE, || is_told(&mut client, &first_observation) && !lags(&service)).is_some());

    test.pair.pause();
    let second_observation = test.observe(&mut client, "Meanwhile");
    assert!(!is_told(&mut client, &second_observation) && !is_noted(&mut client, &second_observation));
    assert!(is_told(&mut client, &first_observation) && is_noted(&mut client, &first_observation));
    assert!(metric(&service, READS) > reads);
    // Waits for the next check of the replica, which measures the age of the last replayed change.
    assert!(wait_until(PATIENCE, || is_told(&mut client, &first_observation) && lags(&service)).is_some());
    let observations = client.all("/v1/observations");
    assert!(
        observations.iter().any(|item| item["id"] == second_observation.as_str()),
        "lists show what was written"
    );
    assert_eq!(client.get(&format!("/v1/observations/{second_observation}")).unwrap().status, 200);
    assert_eq!(client.get("/readyz").unwrap().status, 200);

    // This instance has no replica, so its cursor is ahead of the replica.
    let direct = Installation::with_database(&test.pair.primary.url());
    let primary_service = Service::serve(&direct);
    let (told, cursor) = page(&mut primary_service.client(&test.key), None);
    assert_eq!(told, [first_observation.clone(), second_observation.clone()]);
    assert_eq!(page(&mut client, Some(&cursor)), (vec![], cursor.clone()), "nothing yet, and no event is skipped");
    let now = text(&client.get(&format!("{FEED}&since=now")).unwrap().json()["next_cursor"]);
    assert_eq!(
        page(&mut primary_service.client(&test.key), Some(&now)).0,
        [""; 0],
        "`since=now` starts at the end of the primary's feed"
    );
    let last_observation = test.observe(&mut client, "After");
    test.pair.resume();
    let mut event_ids = vec![];
    let came = wait_until(PATIENCE, || {
        event_ids = page(&mut client, Some(&cursor)).0;
        !event_ids.is_empty()
    });
    assert!(came.is_some() && event_ids == [last_observation.clone()], "{event_ids:?}");
    assert!(is_told(&mut client, &second_observation) && is_told(&mut client, &last_observation));
    assert_eq!(metric(&service, FALLBACKS), 0, "{}", service.log());
    primary_service.stop();
    service.stop();
}

#[test]
fn feed_on_a_replica_shows_each_event_once_in_order() {
    let Some(test) = ReplicaTest::new() else { return };
    let service = Service::serve(&test.place);
    let is_over = AtomicBool::new(false);
    let followed_ids = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|_| {
                let (test, mut client) = (&test, service.client(&test.key));
                scope.spawn(move || {
                    (0..WRITES).for_each(|number| drop(test.observe(&mut client, &format!("{number}"))))
                })
            })
            .collect();
        let (mut client, is_over) = (service.client(&test.key), &is_over);
        let follower = scope.spawn(move || {
            let (mut followed, mut cursor) = (vec![], None);
            let all = wait_until(PATIENCE, || {
                let (told, next) = page(&mut client, cursor.as_deref());
                followed.extend(told);
                cursor = Some(next);
                is_over.load(Ordering::SeqCst) && followed.len() >= WRITERS * WRITES
            });
            assert!(all.is_some(), "{} events", followed.len());
            followed
        });
        // Replay on the standby is paused repeatedly during the writes.
        while !writers.iter().all(thread::ScopedJoinHandle::is_finished) {
            test.pair.pause();
            test.pair.resume();
        }
        is_over.store(true, Ordering::SeqCst);
        follower.join().unwrap()
    });
    let direct = Service::serve(&Installation::with_database(&test.pair.primary.url()));
    let feed = direct.client(&test.key).all(FEED);
    let feed: Vec<String> = feed.iter().map(|event| text(&event["data"]["id"])).collect();
    assert_eq!(followed_ids, feed);
    assert_eq!(feed.len(), WRITERS * WRITES);
    assert_eq!(metric(&service, UP), 1, "{}", service.log());
    direct.stop();
    service.stop();
}

#[test]
fn replica_that_dies_or_hangs_costs_no_request() {
    let Some(mut test) = ReplicaTest::new() else { return };
    let line = Proxy::forward_to(&test.pair.standby.url());
    let place = test.place.with("CANDOR_DATABASE_REPLICA_URL", &line.url(&test.pair.standby.url()));
    test.place = place;
    let service = Service::serve(&test.place);
    let mut client = service.client(&test.key);
    let first_observation = test.observe(&mut client, "Before");
    assert!(wait_until(PATIENCE, || is_told(&mut client, &first_observation)).is_some(), "{}", service.log());
    assert_eq!(metric(&service, UP), 1);

    test.pair.standby.kill().unwrap();
    let second_observation = test.observe(&mut client, "Meanwhile");
    assert!(
        is_told(&mut client, &second_observation) && is_noted(&mut client, &second_observation),
        "{}",
        service.log()
    );
    assert_eq!((metric(&service, UP), client.get("/readyz").unwrap().status), (0, 200));
    assert!(metric(&service, FALLBACKS) > 0);
    let count_in_log = |service: &Service, words: &str| service.log().matches(words).count();
    // A dying standby may answer once more. Each outage and each return is one line.
    let outages = || count_in_log(&service, "cannot read the replica");
    let is_out = || outages() == count_in_log(&service, "the replica responds again") + 1;
    assert!(wait_until(PATIENCE, is_out).is_some(), "{}", service.log());

    test.pair.standby.start_again().unwrap();
    let is_back_again =
        wait_until(PATIENCE, || is_told(&mut client, &second_observation) && metric(&service, UP) == 1);
    assert!(is_back_again.is_some(), "{}", service.log());
    let is_back = || count_in_log(&service, "the replica responds again") == outages();
    assert!(wait_until(PATIENCE, is_back).is_some(), "{}", service.log());

    line.fall_silent();
    let silent = test.observe(&mut client, "Silent");
    assert!(is_told(&mut client, &silent) && is_noted(&mut client, &silent), "{}", service.log());
    assert_eq!(metric(&service, UP), 0);
    service.stop();
}

#[test]
fn replica_must_be_a_standby_of_this_database_and_schema() {
    let Some(mut pair) = PrimaryAndStandby::start() else { return };
    pair.pause();
    let place = Installation::with_database(&pair.primary.url());
    let key = place.key("*", &["--admin"]).secret;
    let place = place.with("CANDOR_DATABASE_REPLICA_URL", &pair.standby.url());
    let service = Service::serve(&place);
    let mut client = service.client(&key);
    assert_eq!(page(&mut client, None).0, [""; 0]);
    service.wait_for_line("has not arrived on the standby yet");
    let doctor_run = candor(&place, &["doctor"]);
    assert!(
        doctor_run.code == Some(1) && doctor_run.stdout.contains("has not arrived on the standby yet"),
        "{}",
        doctor_run.stdout
    );

    pair.resume();
    let is_up = wait_until(PATIENCE, || {
        page(&mut client, None);
        metric(&service, UP) == 1
    });
    assert!(is_up.is_some(), "{}", service.log());
    assert!(candor(&place, &["doctor"]).stdout.contains("a standby of the database"));

    // From here on, the promoted standby diverges from the primary.
    pair.promote();
    let body = json!({"name": "Afterwards"});
    let department = text(&create_resource(&mut client, "/v1/departments", &body)["id"]);
    let audit_entries = client.all("/v1/audit-log");
    assert!(audit_entries.iter().any(|item| item["target"]["id"] == department.as_str()), "{audit_entries:?}");
    assert_eq!(metric(&service, UP), 0);
    service.wait_for_line("no standby");
    service.stop();

    let elsewhere = PrimaryAndStandby::start().unwrap();
    let wrong = place.with("CANDOR_DATABASE_REPLICA_URL", &elsewhere.standby.url());
    let doctor_output = candor(&wrong, &["doctor"]).stdout;
    assert!(doctor_output.contains("the server is no copy of this database"), "{doctor_output}");
}
