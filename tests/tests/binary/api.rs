//! Tests `candor login` and `candor api` against a service on the embedded database.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::{CommandResult, Installation, Key, PATIENCE, Service, TlsServer, candor, fed, wait_until};

/// A running service, and a user of it whose configuration folder lies in the folder of the installation.
struct Fixture {
    place: Installation,
    service: Service,
    key: Key,
}

impl Fixture {
    fn start() -> Self {
        let place = user();
        let key = place.key("*", &["--admin"]);
        Self { service: Service::serve(&place), key, place }
    }

    fn url(&self) -> String {
        format!("http://{}", self.service.address)
    }

    fn log_in(&self, secret: &str, profile: &str) -> CommandResult {
        let words = ["login", "--url", &self.url(), "--profile", profile, "--json"];
        fed(&self.place, &words, format!("{secret}\n").as_bytes())
    }

    fn api(&self, words: &[&str]) -> CommandResult {
        candor(&self.place, &[&["api"], words].concat())
    }

    fn profiles(&self) -> std::path::PathBuf {
        self.place.folder.path().join("config/candor/profiles.toml")
    }
}

/// Creates an installation with a configuration folder of its own.
fn user() -> Installation {
    let place = Installation::sqlite();
    let folder = place.folder.path().join("config").display().to_string();
    place.with("XDG_CONFIG_HOME", &folder)
}

fn hire(fixture: &Fixture, names: &[&str]) {
    for name in names {
        let email = format!("email={name}@example.com");
        let first = format!("first_name={name}");
        fixture.api(&["POST", "employees", "-f", &email, "-f", &first, "-f", "last_name=Example"]).succeeded();
    }
}

fn assert_refused(result: &CommandResult, code: i32, says: &[&str]) {
    assert_eq!(result.code, Some(code), "{}", result.stderr);
    assert_eq!(result.stderr.lines().count(), 1, "{}", result.stderr);
    for text in says {
        assert!(result.stderr.contains(text), "{text}: {}", result.stderr);
    }
}

/// Every command that calls a service, each with a request that changes nothing.
const CALLS: [&[&str]; 4] = [
    &["api", "GET", "me"],
    &["export", "--out", "copy", "--resources", "departments"],
    &["import", "people.csv", "--dry-run"],
    &["connector", "check"],
];

#[test]
fn every_command_finds_the_service_in_the_same_way() {
    let fixture = Fixture::start();
    fs::write(fixture.place.folder.path().join("people.csv"), "email\n").unwrap();
    let run_command = |command: &[&str], flags: &[&str], variables: &[(&str, &str)]| {
        let place = variables.iter().fold(user(), |place, (name, value)| place.with(name, value));
        candor(&place, &[command, flags].concat())
    };
    for command in CALLS {
        assert_refused(&run_command(command, &[], &[]), 2, &["profile"]);
        assert_refused(
            &run_command(command, &[], &[("CANDOR_URL", &fixture.url())]),
            2,
            &["CANDOR_API_KEY is not"],
        );
        assert_refused(
            &run_command(command, &["--url", &fixture.url()], &[]),
            2,
            &["--url is set", "CANDOR_API_KEY is not"],
        );
        assert_refused(&run_command(command, &["--profile", "eu"], &[]), 2, &["eu"]);
        let key = [("CANDOR_API_KEY", "cdr_live_a")];
        assert_refused(
            &run_command(command, &["--url", "http://candor.example.com"], &key),
            2,
            &["plain HTTP", "--insecure"],
        );
        assert_refused(&run_command(command, &["--url", "candor.example.com"], &key), 2, &["candor.example.com"]);
    }
    fixture.log_in(&fixture.key.secret, "eu").succeeded();
    for command in CALLS {
        let run = candor(&fixture.place, &[command, &["--profile", "eu"]].concat());
        assert_ne!(run.code, Some(2), "{}", run.stderr);
    }
}

#[test]
fn profiles_are_listed_and_forgotten() {
    let fixture = Fixture::start();
    for name in ["default", "eu"] {
        fixture.log_in(&fixture.key.secret, name).succeeded();
    }
    let profiles = candor(&fixture.place, &["profiles", "--json"]).json();
    let expected_profiles = ["default", "eu"].map(|name| json!({"profile": name, "url": fixture.url()}));
    assert_eq!(profiles, json!({"data": expected_profiles}));
    let output = candor(&fixture.place, &["logout", "--profile", "eu"]).succeeded().stdout;
    assert!(output.contains("eu") && output.contains("stays valid"), "{output}");
    assert_refused(&candor(&fixture.place, &["logout", "--profile", "eu"]), 2, &["eu", "default"]);
    assert_eq!(candor(&fixture.place, &["profiles", "--json"]).json()["data"].as_array().unwrap().len(), 1);
}

#[test]
fn login_stores_an_accepted_key_owner_only() {
    let fixture = Fixture::start();
    let secret = &fixture.key.secret;
    let login_json = fixture.log_in(secret, "default").json();
    let expected_values =
        [json!("default"), json!(fixture.url()), json!(fixture.key.id), json!("live"), json!("admin")];
    assert_eq!(
        ["profile", "url", "key_id", "environment", "access_level"].map(|name| login_json[name].clone()),
        expected_values
    );
    assert!(!login_json.to_string().contains(secret), "the key is not printed");
    let mode = fs::metadata(fixture.profiles()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    assert_eq!(fixture.api(&["GET", "/v1/me"]).json()["key_id"], json!(fixture.key.id));

    let test = fixture.place.key_of(&fixture.key.organization, "employees:read", &["--test"]);
    let text =
        fed(&fixture.place, &["login", "--url", &fixture.url(), "--profile", "test"], test.secret.as_bytes());
    let text = text.succeeded();
    assert!(
        text.stdout.contains("standard level, test data") && text.stdout.contains("--profile test"),
        "{}",
        text.stdout
    );
    assert!(!text.stdout.contains(&test.secret) && !text.stderr.contains(&test.secret));
    assert_eq!(fixture.api(&["GET", "me", "--profile", "test"]).json()["environment"], "test");
    assert_eq!(fixture.api(&["GET", "me"]).json()["environment"], "live", "the other profile stays");

    fs::set_permissions(fixture.profiles(), fs::Permissions::from_mode(0o644)).unwrap();
    assert_refused(&fixture.api(&["GET", "me"]), 1, &["chmod 600", "profiles.toml"]);
    fixture.service.stop();
}

#[test]
fn login_stores_no_key_that_the_service_refuses() {
    let fixture = Fixture::start();
    let wrong = "cdr_live_0123456789abcdefghijkl";
    let result = fixture.log_in(wrong, "default");
    assert_refused(&result, 3, &["cannot log in to", "401 authentication_required", "check that the key"]);
    assert!(!result.stderr.contains(wrong) && !fixture.profiles().exists(), "{}", result.stderr);
    let result = fixture.log_in("hunter2", "default");
    assert_refused(&result, 2, &["no API key", "cdr_live_"]);
    assert!(!result.stderr.contains("hunter2"));
    let result = fed(&fixture.place, &["login", "--url", "feedback.example.com"], fixture.key.secret.as_bytes());
    assert_refused(&result, 2, &["feedback.example.com", "http"]);
    assert_refused(
        &fixture.api(&["GET", "me"]),
        2,
        &["no profile default", "candor login --url URL --profile default"],
    );
    fixture.service.stop();
}

#[test]
fn key_and_url_come_from_one_source() {
    let fixture = Fixture::start();
    fixture.log_in(&fixture.key.secret, "default").succeeded();
    let url = fixture.url();
    let Fixture { place, service, key } = fixture;
    assert_refused(
        &candor(&place, &["api", "GET", "me", "--profile", "stage"]),
        2,
        &["no profile stage", "stored are: default"],
    );
    assert_refused(
        &candor(&place, &["api", "GET", "me", "--url", &url]),
        2,
        &["--url is set, but CANDOR_API_KEY is not"],
    );
    let other = place.key_of(&key.organization, "employees:read", &[]);
    let place = place.with("CANDOR_API_KEY", &other.secret);
    assert_refused(&candor(&place, &["api", "GET", "me"]), 2, &["CANDOR_API_KEY is set, but CANDOR_URL is not"]);
    let id = |words: &[&str]| candor(&place, &[&["api", "GET", "me"], words].concat()).json()["key_id"].clone();
    assert_eq!(id(&["--url", &format!("{url}/v1/")]), json!(other.id));
    assert_eq!(id(&["--profile", "default"]), json!(key.id));
    let place = place.with("CANDOR_URL", &url);
    assert_eq!(candor(&place, &["api", "GET", "me"]).json()["key_id"], json!(other.id));
    service.stop();
}

#[test]
fn api_creates_updates_and_lists_with_fields() {
    let fixture = Fixture::start();
    fixture.log_in(&fixture.key.secret, "default").succeeded();
    let create =
        ["POST", "employees", "-f", "email=ada@example.com", "-f", "first_name=Ada", "-f", "last_name=Moreau"];
    let dry_run = fixture.api(&[&create[..], &["--dry-run"]].concat()).json();
    assert_eq!((&dry_run["dry_run"], &dry_run["status"]), (&json!(true), &json!(201)), "{dry_run}");
    let key = ["--idempotency-key", "hire-ada"];
    let creation = fixture.api(&[&create[..], &key].concat()).json();
    let second_creation = fixture.api(&[&create[..], &key].concat()).json();
    assert_eq!((&creation["first_name"], &second_creation), (&json!("Ada"), &creation));
    let path = format!("/v1/employees/{}", creation["id"].as_str().unwrap());
    let patch_run =
        fixture.api(&["patch", &path, "-f", "job_title=Engineer", "-f", "custom_fields:={\"floor\": \"3\"}"]);
    let employee = patch_run.json();
    assert_eq!((&employee["job_title"], &employee["custom_fields"]), (&json!("Engineer"), &json!({"floor": "3"})));
    let cleared_employee = fixture.api(&["PATCH", &path, "-f", "job_title:=null"]).json();
    assert_eq!(cleared_employee["job_title"], Value::Null);
    let rows_for = |words: &[&str]| fixture.api(&[&["GET", "employees"], words].concat()).json()["data"].clone();
    assert_eq!(rows_for(&["-f", "filter[email]=ada@example.com", "-q", "limit:=5"]).as_array().unwrap().len(), 1);
    assert_eq!(rows_for(&["-q", "filter[email]=eve@example.com"]), json!([]));
    let response_text = fixture.api(&["GET", "employees?limit=1", "-i"]).succeeded().stdout;
    assert!(
        response_text.starts_with("HTTP/1.1 200 OK\n") && response_text.contains("\nx-request-id: req_"),
        "{response_text}"
    );
    assert!(response_text.split_once("\n\n").unwrap().1.starts_with("{\"data\":["), "{response_text}");
    fixture.service.stop();
}

#[test]
fn api_reads_bodies_from_files_and_standard_input() {
    let fixture = Fixture::start();
    fixture.log_in(&fixture.key.secret, "default").succeeded();
    let file = fixture.place.folder.path().join("people.csv");
    fs::write(&file, "email,first_name,last_name\nada@example.com,Ada,Moreau\n").unwrap();
    let upload_result =
        fixture.api(&["POST", "employees/csv", "--input", "people.csv", "-q", "dry_run=true"]).json();
    assert_eq!(
        (&upload_result["data"]["created"], &upload_result["plan"][0]["action"]),
        (&json!(1), &json!("create")),
        "{upload_result}"
    );
    let words = ["api", "POST", "/departments", "--input", "-"];
    assert_eq!(fed(&fixture.place, &words, br#"{"name": "Research"}"#).json()["name"], "Research");
    assert_refused(&fed(&fixture.place, &words, b"{name: x}"), 2, &["the body in - is not JSON"]);
    assert_refused(&fixture.api(&["POST", "departments", "--input", "absent.json"]), 1, &["absent.json"]);
    fixture.service.stop();
}

#[test]
fn api_joins_pages_of_lists() {
    let fixture = Fixture::start();
    fixture.log_in(&fixture.key.secret, "default").succeeded();
    let names = ["ada", "bea", "cleo", "dora", "edda"];
    hire(&fixture, &names);
    let list = ["GET", "employees", "-q", "limit=2", "-q", "sort=first_name"];
    let paginate = |words: &[&str]| fixture.api(&[&list[..], words].concat());
    let page = paginate(&[]).json();
    assert_eq!((page["data"].as_array().unwrap().len(), &page["has_more"]), (2, &json!(true)));
    let whole = paginate(&["--paginate"]).json();
    let first_names: Vec<&str> =
        whole["data"].as_array().unwrap().iter().map(|row| row["first_name"].as_str().unwrap()).collect();
    assert_eq!((first_names, &whole["has_more"]), (names.to_vec(), &json!(false)));
    let events = fixture.api(&["GET", "events", "-q", "limit=2", "--paginate"]).json();
    assert!(events["data"].as_array().unwrap().len() >= 5 && events["next_cursor"].is_string(), "{events}");
    assert_refused(&fixture.api(&["GET", "me", "--paginate"]), 1, &["GET /me returns no list", "--paginate"]);
    fixture.service.stop();
}

#[test]
fn api_tells_the_class_of_an_error_by_its_exit_status() {
    let fixture = Fixture::start();
    fixture.log_in(&fixture.key.secret, "default").succeeded();
    let narrow = fixture.place.key_of(&fixture.key.organization, "employees:read", &[]);
    fixture.log_in(&narrow.secret, "narrow").succeeded();
    let absent = fixture.api(&["GET", "employees/emp_01J00000000000000000000000"]);
    assert_refused(&absent, 4, &["cannot GET /employees/emp_", "Not found (404 not_found, request req_"]);
    assert_eq!(absent.object()["error"]["code"], "not_found", "the body is printed");
    let invalid = fixture.api(&["POST", "employees", "-f", "email=ada"]);
    assert_refused(&invalid, 4, &["first_name is required", "last_name is required"]);
    assert!(invalid.object()["error"]["details"].as_array().unwrap().len() >= 3);
    assert_refused(&fixture.api(&["DELETE", "webhooks/whk_x", "--profile", "narrow"]), 3, &["403"]);
    candor(&fixture.place, &["key", "revoke", &narrow.id]).succeeded();
    let run_with_revoked = || fixture.api(&["GET", "me", "--profile", "narrow"]);
    assert!(wait_until(PATIENCE, || run_with_revoked().code == Some(3)).is_some());
    assert_refused(&run_with_revoked(), 3, &["401", "not revoked"]);
    for (words, says) in [
        (&["GET"][..], "PATH"),
        (&["FETCH", "employees"], "GET"),
        (&["POST", "employees", "-f", "email"], "NAME=TEXT"),
        (&["POST", "employees", "-f", "tags:=x"], "tags=TEXT"),
        (&["GET", "https://other.example/v1/me"], "below /v1"),
        (&["GET", "employees", "--dry-run"], "--dry-run is for writes"),
        (&["POST", "employees", "--paginate"], "--paginate is for GET"),
    ] {
        let wrong = fixture.api(words);
        assert_eq!((wrong.code, wrong.stderr.contains(says)), (Some(2), true), "{}", wrong.stderr);
    }
    fixture.service.stop();
}

#[test]
fn api_without_a_service_ends_with_no_response() {
    let unused_address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let place =
        user().with("CANDOR_API_KEY", "cdr_live_x").with("CANDOR_URL", &format!("http://{unused_address}"));
    let result = candor(&place, &["api", "GET", "me"]);
    assert_refused(&result, 6, &["cannot GET /me", "refused", "check the URL, and that the service runs"]);
    assert_eq!(result.stdout, "");
}

#[test]
fn api_over_tls_tells_untrusted_and_failing_services_apart() {
    const FAILED: &str =
        "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 5\r\nConnection: close\r\n\r\noops\n";
    let (server, other) = (TlsServer::answering(FAILED), TlsServer::answering(FAILED));
    let get = |authority: &str| {
        let place = user().with("CANDOR_API_KEY", "cdr_live_x").with("CANDOR_URL", &server.url);
        let file = place.folder.path().join("authorities.pem");
        fs::write(&file, authority).unwrap();
        candor(&place.with("SSL_CERT_FILE", file.to_str().unwrap()), &["api", "GET", "me", "--include"])
    };
    let error_run = get(&server.authority);
    assert_refused(&error_run, 5, &["cannot GET /me: The service answered 500 (500 unknown)"]);
    assert!(
        error_run.stdout.starts_with("HTTP/1.1 500 Internal") && error_run.stdout.ends_with("\n\noops\n"),
        "{}",
        error_run.stdout
    );
    let untrusted_run = get(&other.authority);
    assert_refused(&untrusted_run, 6, &["certificate", "SSL_CERT_FILE"]);
    assert_eq!(server.requests().len(), 1);
}
