//! Tests shared quotas: instances count together on a server, and separately while the server is down.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use candor_test_redis::TestRedis;

use crate::support::{Installation, PATIENCE, Response, Service, candor, wait_until};

const INSTANCES: usize = 4;
const CLIENTS: usize = 32;
/// Read quota of a key per 60 seconds (§8).
const LIMIT: usize = 600;
/// Length of a quota window.
const WINDOW_SECONDS: u64 = 60;

const UP: &str = "candor_rate_limit_store_up";
const FAILURES: &str = "candor_rate_limit_store_failures_total";

/// Returns a metric of a service, or `None` if there is none of that name.
fn metric(service: &Service, name: &str) -> Option<u64> {
    let text = service.admin().unwrap().get("/metrics").unwrap().text();
    let line = text.lines().find(|line| line.strip_prefix(name).is_some_and(|line| line.starts_with(' ')))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// Creates a key with the default quotas.
fn usual_key(place: &Installation) -> String {
    let organization = place.key("*", &[]).organization;
    let create = ["key", "create", "--org", &organization, "--name", "usual", "--scopes", "*", "--json"];
    candor(place, &create).json()["key"].as_str().unwrap().to_owned()
}

fn start(place: &Installation) -> Service {
    Service::start(place, &["serve", "--admin-listen", "127.0.0.1:0"])
}

/// Starts several instances with one database and one quota server. `None` without PostgreSQL.
fn instances(server: &TestRedis) -> Option<(Installation, Vec<Service>, String)> {
    let place = Installation::postgres()?.with("CANDOR_RATE_LIMITER", &server.url());
    let key = usual_key(&place);
    let services = (0..INSTANCES).map(|_| start(&place)).collect();
    Some((place, services, key))
}

/// Results of the reads of all clients.
#[derive(Default)]
struct ReadTally {
    /// Second at which each admitted read leaves the quota window, from the header of its answer. This second is 60
    /// seconds after the read, rounded up, by the clock of the server that counted the read.
    admitted: Mutex<Vec<u64>>,
    others: Mutex<Vec<u16>>,
}

impl ReadTally {
    fn add(&self, response: &Response) {
        match response.status {
            200 => {
                let reset = response.header("x-ratelimit-reset").unwrap().parse().unwrap();
                self.admitted.lock().unwrap().push(reset);
            }
            429 => {}
            other => self.others.lock().unwrap().push(other),
        }
    }

    fn count(&self) -> usize {
        self.admitted.lock().unwrap().len()
    }

    /// Returns the highest number of reads that were admitted less than `seconds` apart.
    fn most_within(&self, seconds: u64) -> usize {
        let resets = self.admitted.lock().unwrap();
        let count_within =
            |from: &u64| resets.iter().filter(|reset| (*from..from + seconds).contains(reset)).count();
        resets.iter().map(count_within).max().unwrap_or_default()
    }

    /// Asserts that no window of 60 seconds has more admitted reads than the limit for each of these instances.
    fn assert_at_most(&self, instances: usize) {
        // Two reads whose rounded times are at most 59 seconds apart were within 60 seconds.
        let most = self.most_within(WINDOW_SECONDS);
        assert!(most <= instances * LIMIT, "{most}");
    }
}

/// Reads with many clients until `end` returns `true` for the status of an answer.
fn read(services: &[Service], key: &str, responses: &ReadTally, end: impl Fn(u16) -> bool + Sync) {
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (service, end) = (&services[client % services.len()], &end);
            scope.spawn(move || {
                let mut client = service.client(key);
                loop {
                    let response = client.get("/v1/me").unwrap();
                    responses.add(&response);
                    if end(response.status) {
                        break;
                    }
                }
            });
        }
    });
}

/// Returns the numbers of outages and recoveries of the quota server in the log of a service.
fn outages_and_recoveries(service: &Service) -> (usize, usize) {
    let log = service.log();
    let lines = |words: &str| log.lines().filter(|line| line.contains(words)).count();
    (lines("cannot count quotas on the shared server"), lines("quota server responds again"))
}

/// Waits until a service counts on the quota server. Each check reads once: a request that exceeds its time budget
/// on a busy machine opens the circuit breaker, and only a request closes it.
fn wait_until_shared(service: &Service, key: &str) {
    let mut client = service.client(key);
    let is_up = || matches!(client.get("/v1/me").unwrap().status, 200 | 429) && metric(service, UP) == Some(1);
    assert!(wait_until(PATIENCE, is_up).is_some(), "{}", service.log());
}

#[test]
fn four_instances_with_32_clients_share_the_limit_of_a_key() {
    let Some(server) = TestRedis::start().unwrap() else { return };
    let Some((_place, services, key)) = instances(&server) else { return };
    let responses = ReadTally::default();
    read(&services, &key, &responses, |status| status != 200);
    assert_eq!(*responses.others.lock().unwrap(), Vec::<u16>::new());
    let failures: u64 = services.iter().filter_map(|service| metric(service, FAILURES)).sum();
    if failures == 0 {
        responses.assert_at_most(1);
        // The clients ended with a refusal, so that one window was full. Its rounded times are at most 60 apart.
        let most = responses.most_within(WINDOW_SECONDS + 1);
        assert!(most >= LIMIT, "{most}");
    } else {
        // On a busy machine the quota server may exceed its time budget. The higher bound for failures then
        // applies.
        responses.assert_at_most(INSTANCES);
    }
    services.into_iter().for_each(Service::stop);
}

#[test]
fn killed_redis_refuses_no_request_and_is_used_after_restart() {
    let Some(mut server) = TestRedis::start().unwrap() else { return };
    let Some((_place, services, key)) = instances(&server) else { return };
    services.iter().for_each(|service| wait_until_shared(service, &key));
    let (responses, enough) = (ReadTally::default(), AtomicBool::new(false));
    let has_recovered = thread::scope(|scope| {
        let reading = scope.spawn(|| read(&services, &key, &responses, |_| enough.load(Ordering::Relaxed)));
        let some = wait_until(PATIENCE, || responses.count() >= LIMIT / 4);
        server.kill();
        let is_down = || services.iter().all(|service| metric(service, UP) == Some(0));
        let down = wait_until(PATIENCE, is_down);
        let more = wait_until(PATIENCE, || responses.count() > LIMIT);
        // The server is gone, so that no instance recovers before its restart.
        let recoveries_before: Vec<_> = services.iter().map(|service| outages_and_recoveries(service).1).collect();
        let resumed_server = server.resume();
        // Counts log lines: on a busy machine an instance may fail again before another one has recovered.
        let recovery_time = wait_until(PATIENCE, || {
            services
                .iter()
                .zip(&recoveries_before)
                .all(|(service, before)| outages_and_recoveries(service).1 > *before)
        });
        enough.store(true, Ordering::Relaxed);
        reading.join().unwrap();
        assert!(
            some.is_some() && down.is_some() && more.is_some() && resumed_server.is_ok(),
            "{some:?} {down:?} {more:?}"
        );
        recovery_time.is_some()
    });
    assert!(has_recovered, "{}", services.iter().map(Service::log).collect::<String>());
    assert_eq!(*responses.others.lock().unwrap(), Vec::<u16>::new(), "a client got another status");
    responses.assert_at_most(INSTANCES);
    for service in services {
        wait_until_shared(&service, &key);
        // A busy machine may exceed the time budget several times; each time logs one failure and one recovery.
        let is_told =
            || matches!(outages_and_recoveries(&service), (outages @ 1.., recoveries) if outages == recoveries);
        assert!(wait_until(PATIENCE, is_told).is_some(), "{}", service.log());
        service.stop();
    }
}

#[test]
fn service_starts_without_redis_and_counts_locally() {
    let Some(mut server) = TestRedis::start().unwrap() else { return };
    server.kill();
    let place = Installation::sqlite().with("CANDOR_RATE_LIMITER", &server.url());
    let key = usual_key(&place);
    let service = start(&place);
    assert_eq!(metric(&service, UP), Some(0));
    service.wait_for_line("cannot count quotas on the shared server");
    let mut client = service.client(&key);
    for left in (597..600).rev() {
        let response = client.get("/v1/me").unwrap();
        assert_eq!((response.status, response.header("x-ratelimit-remaining")), (200, Some(&*left.to_string())));
    }
    server.resume().unwrap();
    wait_until_shared(&service, &key);
    let log = service.stop_and_read_log();
    assert_eq!(log.matches("cannot count quotas on the shared server").count(), 1, "{log}");
}

#[test]
fn doctor_checks_redis_over_tls_without_showing_the_password() {
    let Some(server) = TestRedis::start_with_tls(&["--requirepass", "hunter2"]).unwrap() else { return };
    let url = |password: &str| format!("rediss://:{password}@localhost:{}", server.port());
    let place = |password: &str| {
        let place = Installation::sqlite().with("CANDOR_RATE_LIMITER", &url(password));
        candor(&place, &["migrate"]).succeeded();
        place
    };
    let stranger = candor(&place("hunter2"), &["doctor"]);
    assert!(
        stranger.code == Some(1) && stranger.stdout.contains("the TLS handshake failed"),
        "{}",
        stranger.stdout
    );
    let file = server.certificate().unwrap().display().to_string();
    let trusting = place("hunter2").with("SSL_CERT_FILE", &file);
    let good = candor(&trusting, &["doctor"]).succeeded();
    assert!(
        good.stdout.contains("counts quotas for all instances") && !good.stdout.contains("hunter"),
        "{}",
        good.stdout
    );
    let wrong = candor(&place("hunter3").with("SSL_CERT_FILE", &file), &["doctor"]);
    let says = "does not accept the user name and password";
    assert!(wrong.stdout.contains(says) && !wrong.stdout.contains("hunter"), "{}", wrong.stdout);
    let config_output = candor(&trusting, &["config"]).succeeded().stdout;
    assert!(
        config_output.contains("rediss://:***@localhost") && !config_output.contains("hunter"),
        "{config_output}"
    );
    let key = usual_key(&trusting);
    let service = start(&trusting);
    assert_eq!(service.client(&key).get("/v1/me").unwrap().header("x-ratelimit-remaining"), Some("599"));
    wait_until_shared(&service, &key);
    assert!(fs::metadata(&file).is_ok());
    let log = service.stop_and_read_log();
    assert!(!log.contains("hunter2"), "{log}");
}
