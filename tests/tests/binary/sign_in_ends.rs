//! Ends of sessions and bearer tokens beside other requests (decisions B10 and B11): the process that acknowledged an end
//! refuses the first request after it, and every other process follows. An exploration prints the times of the others,
//! whose limit of one second the tests of the service check with a manual clock.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use candor_test_explore::size;
use candor_test_identity::{DOMAIN, Provider, address_of};
use serde_json::{Value, json};

use crate::support::{Client, Installation, Key, PATIENCE, Response, Service, candor, wait_until};

/// Number of trials in the gate, and in an exploration.
const TRIALS: [usize; 2] = [14, 1_000];
/// Threads that send other requests to each process.
const LOADS: usize = 2;
const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";

/// An end, and the effect on the session and on the token of the person: `true` if it is refused.
struct End {
    name: &'static str,
    effect: [bool; 2],
    cause: fn(&Stage, &mut Client, &Trial),
}

const ENDS: [End; 7] = [
    End { name: "disabled provider", effect: [true, true], cause: disable },
    End { name: "deactivation over the API", effect: [true, true], cause: deactivate },
    End { name: "deactivation in a CSV file", effect: [true, true], cause: upload_leaver },
    End { name: "deactivation over SCIM", effect: [true, true], cause: provision_leaver },
    End {
        name: "logout of the sid",
        effect: [true, true],
        cause: |stage, client, trial| {
            log_out(stage, client, trial, &json!({"sid": trial.subject}));
        },
    },
    End {
        name: "logout of the sub",
        effect: [true, true],
        cause: |stage, client, trial| {
            log_out(stage, client, trial, &json!({"sub": trial.subject}));
        },
    },
    End {
        name: "revoked key",
        effect: [true, false],
        cause: |stage, client, trial| {
            stage.change(client, &format!("POST /v1/api-keys/{}/revoke", trial.session), &json!({}));
        },
    },
];

/// An organization whose people sign in, and its provider.
struct Stage {
    /// Process whose changes the others see too.
    service: SocketAddr,
    admin: Key,
    scim_key: String,
    provider: Provider,
    provider_id: String,
}

/// A person who has signed in and has a token.
struct Trial {
    person: String,
    email: String,
    /// Account and session at the provider.
    subject: String,
    session: String,
    /// Keys of the session and of the account.
    keys: [String; 2],
}

/// A request: its first line, key, content type and body.
#[derive(Default)]
struct Request<'a> {
    line: &'a str,
    key: &'a str,
    content: Option<(&'a str, String)>,
}

/// Returns another address of a client for each request, because quotas are those of an address.
fn next_address() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let [_, second, third, last] = NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    format!("10.{second}.{third}.{last}")
}

impl Request<'_> {
    fn send(&self, client: &mut Client) -> Response {
        let mut head = format!("{} HTTP/1.1\r\nHost: test\r\nX-Forwarded-For: {}\r\n", self.line, next_address());
        if !self.key.is_empty() {
            let _ = write!(head, "Authorization: Bearer {}\r\n", self.key);
        }
        let (kind, body) = self.content.as_ref().map_or((JSON, ""), |(kind, body)| (kind, body));
        if self.content.is_some() {
            let _ = write!(head, "Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
        }
        client.send(format!("{head}\r\n{body}").as_bytes()).unwrap();
        client.receive().unwrap()
    }
}

fn settings(place: Installation) -> Installation {
    place
        .with("CANDOR_CONSOLE", "on")
        .with("CANDOR_PUBLIC_URL", "http://candor.test")
        .with("CANDOR_IDENTITY_TRUSTED_NETWORKS", "127.0.0.0/8")
        .with("CANDOR_TRUSTED_PROXIES", "127.0.0.1")
}

impl Stage {
    /// Creates the organization with a proven provider and a connector.
    fn create(place: &Installation, admin: Key, service: &Service) -> Self {
        let provider = Provider::start().unwrap();
        let mut client = service.client(&admin.secret);
        let mut create = |path: &str, body: Value| {
            let response = client.post(path, &body).unwrap();
            assert!(matches!(response.status, 200 | 201), "{path}: {}", response.text());
            response.json()
        };
        let brake = json!({"percent": 100, "at_least": 1_000_000});
        let connector = create("/v1/connectors", json!({"type": "scim", "hris_source": "okta", "brake": brake}));
        let provider_id = create("/v1/identity-providers", provider.body())["id"].as_str().unwrap().to_owned();
        candor(place, &["identity", "trust", "--org", &admin.organization, "--domain", DOMAIN]).succeeded();
        let token = provider.proof_token(&provider_id);
        let check = create(&format!("/v1/identity-providers/{provider_id}/check"), json!({"token": token}));
        assert_eq!((&check["ok"], &check["problems"]), (&json!(true), &json!([])), "{check}");
        let connector = connector["id"].as_str().unwrap();
        let options = ["--connector", connector, "--scim-per-minute", "1000000"];
        let scim_key = place.key_of(&admin.organization, "scim", &options).secret;
        let stage = Self { service: service.address, admin, scim_key, provider, provider_id };
        // The first sign-in proves the client id, for which logout tokens are issued.
        stage.begin(&mut service.anonymous().unwrap(), TRIALS[1]);
        stage
    }

    /// Sends a change with the key of the admin.
    fn change(&self, client: &mut Client, line: &str, body: &Value) -> Value {
        let content = Some((JSON, body.to_string()));
        let request = Request { line, key: &self.admin.secret, content };
        let response = request.send(client);
        assert!(matches!(response.status, 200 | 201), "{line}: {}", response.text());
        response.json()
    }

    /// Creates a person, who signs in and gets a token.
    fn begin(&self, client: &mut Client, number: usize) -> Trial {
        let subject = format!("user-{number}");
        let email = address_of(&*subject);
        let mut trial = Trial {
            person: String::new(),
            email: email.clone(),
            subject: subject.clone(),
            session: String::new(),
            keys: [String::new(), self.provider.bearer_token(&*subject)],
        };
        let person = json!({"email": email, "first_name": "Ada", "last_name": "Example"});
        let person = self.change(client, "POST /v1/employees", &person);
        person["id"].as_str().unwrap().clone_into(&mut trial.person);
        let session = self.provider.sign_in((self.service, &self.provider_id), &*subject, &next_address());
        let session = session.unwrap();
        session["id"].as_str().unwrap().clone_into(&mut trial.session);
        session["key"].as_str().unwrap().clone_into(&mut trial.keys[0]);
        trial
    }
}

impl Trial {
    /// Returns `true` for each key that a process refuses.
    fn refusals(&self, client: &mut Client) -> [bool; 2] {
        self.keys.each_ref().map(|key| {
            let request = Request { line: "GET /v1/me", key, ..Request::default() };
            let response = request.send(client);
            assert!(matches!(response.status, 200 | 401), "{}", response.text());
            response.status == 401
        })
    }
}

fn disable(stage: &Stage, client: &mut Client, _: &Trial) {
    let line = format!("PATCH /v1/identity-providers/{}", stage.provider_id);
    stage.change(client, &line, &json!({"status": "disabled"}));
}

fn deactivate(stage: &Stage, client: &mut Client, trial: &Trial) {
    stage.change(client, &format!("POST /v1/employees/{}/deactivate", trial.person), &json!({}));
}

/// Uploads a file under a key of its own, because few files are allowed to a key. Waits while the organization has used
/// its quota, which a thousand trials on a quick machine exceed.
fn upload_leaver(stage: &Stage, client: &mut Client, trial: &Trial) {
    let body = json!({"name": "Upload", "scopes": ["employees:write"], "access_level": "admin"});
    let key = stage.change(client, "POST /v1/api-keys", &body);
    let file = format!("email,first_name,last_name,status\n{},Ada,Example,deactivated\n", trial.email);
    let content = Some(("text/csv", file));
    let key = (key["key"].as_str().unwrap(), key["id"].as_str().unwrap());
    let line = "POST /v1/employees/csv";
    let request = Request { line, key: key.0, content };
    let mut response = request.send(client);
    let is_admitted = wait_until(PATIENCE, || {
        if response.status == 429 {
            response = request.send(client);
        }
        response.status != 429
    });
    assert!(is_admitted.is_some(), "{}", response.text());
    assert_eq!(response.json()["data"]["deactivated"], 1, "{}", response.text());
}

/// Adopts the person by the connector, which deactivates them then.
fn provision_leaver(stage: &Stage, client: &mut Client, trial: &Trial) {
    let mut send = |line: &str, body: Value| {
        let content = Some((JSON, body.to_string()));
        let key = &stage.scim_key;
        let response = Request { line, key, content }.send(client);
        assert!(matches!(response.status, 200 | 201), "{line}: {}", response.text());
    };
    let user = json!({"userName": trial.email, "externalId": trial.subject, "active": true,
                      "name": {"givenName": "Ada", "familyName": "Example"}});
    send("POST /scim/v2/Users", user);
    let operation = json!({"op": "replace", "path": "active", "value": false});
    send(&format!("PATCH /scim/v2/Users/{}", trial.person), json!({"Operations": [operation]}));
}

fn log_out(stage: &Stage, client: &mut Client, trial: &Trial, claims: &Value) {
    let token = stage.provider.logout_token(claims, &format!("logout of {}", trial.subject));
    let line = format!("POST /v1/sign-in/backchannel-logout/{}", stage.provider_id);
    let content = Some((FORM, format!("logout_token={token}")));
    let response = Request { line: &line, content, ..Request::default() }.send(client);
    assert_eq!(response.status, 200, "{}", response.text());
}

/// Runs trials on a process, whose effects the others see too. Returns the times after which each other process accepted no
/// request, by the number of the end.
fn run_trials(place: &Installation, processes: usize, trials: usize) -> Vec<(usize, Duration)> {
    let admin = place.key("*", &["--admin"]);
    let services: Vec<_> = (0..processes).map(|_| Service::serve(place)).collect();
    let stage = Stage::create(place, admin, &services[0]);
    let (is_over, mut times) = (AtomicBool::new(false), vec![]);
    thread::scope(|scope| {
        for service in services.iter().flat_map(|service| std::iter::repeat_n(service, LOADS)) {
            let (stage, is_over) = (&stage, &is_over);
            scope.spawn(move || {
                let mut client = service.client(&stage.admin.secret);
                while !is_over.load(Ordering::Relaxed) {
                    for path in ["/v1/me", "/v1/employees?limit=20", "/v1/api-keys?filter[kind]=session"] {
                        assert_eq!(client.get(path).unwrap().status, 200);
                    }
                }
            });
        }
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut clients: Vec<_> = services.iter().map(|service| service.anonymous().unwrap()).collect();
            for number in 0..trials {
                run_trial(&stage, &mut clients, number, &mut times);
            }
        }));
        is_over.store(true, Ordering::Relaxed);
        if let Err(problem) = result {
            std::panic::resume_unwind(problem);
        }
    });
    services.into_iter().for_each(Service::stop);
    times
}

fn run_trial(stage: &Stage, clients: &mut [Client], number: usize, times: &mut Vec<(usize, Duration)>) {
    let end = &ENDS[number % ENDS.len()];
    let trial = stage.begin(&mut clients[0], number);
    for client in &mut *clients {
        // Another process may have read the provider before it was enabled again.
        let is_accepted = wait_until(PATIENCE, || trial.refusals(client) == [false; 2]);
        assert!(is_accepted.is_some(), "{} before it", end.name);
    }
    (end.cause)(stage, &mut clients[0], &trial);
    let acknowledgement = Instant::now();
    assert_eq!(trial.refusals(&mut clients[0]), end.effect, "{} on its process", end.name);
    for client in &mut clients[1..] {
        let mut accepted_until = Duration::ZERO;
        let is_refused = wait_until(PATIENCE, || {
            let start = acknowledgement.elapsed();
            let is_effective = trial.refusals(client) == end.effect;
            if !is_effective {
                accepted_until = start;
            }
            is_effective
        });
        assert!(is_refused.is_some(), "{} on another process", end.name);
        times.push((number % ENDS.len(), accepted_until));
    }
    if end.name == ENDS[0].name {
        let line = format!("PATCH /v1/identity-providers/{}", stage.provider_id);
        stage.change(&mut clients[0], &line, &json!({"status": "active"}));
    }
}

#[test]
fn ended_sign_in_is_refused_at_once_on_sqlite() {
    let place = settings(Installation::sqlite());
    let trials = size(TRIALS[0], TRIALS[1]);
    assert_eq!(run_trials(&place, 1, trials), []);
    let counts = candor(&place, &["doctor"]).succeeded().stdout;
    let providers =
        "identity providers: 1 active, 0 pending, 0 disabled; 1 with bearer tokens; the last sign-in at 20";
    assert!(counts.contains(providers), "{counts}");
    // One person signed in before the trials.
    let people = format!("; people with an account: {}; sessions valid now: ", trials + 1);
    assert!(counts.contains(&people), "{counts}");
}

#[test]
fn ended_sign_in_is_refused_by_every_process_on_postgres() {
    let Some(place) = Installation::postgres() else { return };
    let times = run_trials(&settings(place), 2, size(TRIALS[0], TRIALS[1]));
    for (number, end) in ENDS.iter().enumerate() {
        let mut millis: Vec<_> =
            times.iter().filter(|(of, _)| *of == number).map(|(_, time)| time.as_millis()).collect();
        millis.sort_unstable();
        let (least, median, most) = (millis[0], millis[millis.len() / 2], millis[millis.len() - 1]);
        println!(
            "{}: {} trials, accepted elsewhere for {least}, {median} and {most} ms (min, median, max)",
            end.name,
            millis.len()
        );
    }
}
