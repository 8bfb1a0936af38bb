//! A newcomer's first steps: `candor dev`, and the commands of the README.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Deserializer, Value, json};

use crate::support::{Installation, Service, candor};

const README: &str = include_str!("../../../README.md");

/// Runs a script in a shell. Prints a notice and returns `None` without `curl`.
pub(crate) fn shell(script: &str) -> Option<String> {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("skipped: curl is not installed");
        return None;
    }
    let output = Command::new("sh").args(["-e", "-c", script]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{script}\n{text}\n{}", String::from_utf8_lossy(&output.stderr));
    Some(text)
}

/// Returns the lists in the output, in order.
fn lists(text: &str) -> Vec<Value> {
    let start = text.find("{\"data\"").unwrap_or_else(|| panic!("no list in {text}"));
    let all = Deserializer::from_str(&text[start..]).into_iter();
    all.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Asserts that the list begins with the created observation about the created employee.
fn shows_what_was_created(text: &str) {
    let list = &lists(text)[0];
    let first = &list["data"][0];
    assert_eq!(first["employee"]["first_name"], json!("Ada"), "{list}");
    assert_eq!(first["employee_id"], first["employee"]["id"]);
    assert!(first["attributes"].is_array());
}

#[test]
fn dev_command_lines_work_when_pasted_even_twice() {
    let place = Installation::sqlite();
    let service = Service::start(&place, &["dev"]);
    let lines: Vec<&str> =
        service.said["curl"].as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect();
    assert_eq!(lines.len(), 5);
    let key = service.said["key"].as_str().unwrap();
    assert_eq!(lines.join("\n").matches(key).count(), 1, "the key stands once, in a variable");
    assert!(lines.iter().flat_map(|line| line.lines()).all(|line| line.len() <= 120), "{lines:#?}");
    for _ in 0..2 {
        let Some(text) = shell(&lines.join("\n")) else { return };
        shows_what_was_created(&text);
        let hits = &lists(&text)[1]["data"];
        assert!(hits.as_array().is_some_and(|item| !item.is_empty()), "the search finds something: {hits}");
    }
}

#[test]
fn readme_command_lines_work() {
    let place = Installation::sqlite();
    let service = Service::start(&place, &["dev"]);
    let text_of = |member: &str| service.said[member].as_str().unwrap().to_owned();
    let block = README.split("```").find(|part| part.starts_with("sh") && part.contains("curl")).unwrap();
    let lines = block.trim_start_matches("sh").lines().map(|line| {
        if line.starts_with("BASE=") {
            format!("BASE={}", text_of("base_url"))
        } else if line.starts_with("KEY=") {
            format!("KEY={}", text_of("key"))
        } else {
            line.to_owned()
        }
    });
    let script: Vec<String> = lines.collect();
    assert!(["BASE=", "KEY="].iter().all(|name| script.iter().filter(|line| line.starts_with(name)).count() == 1));
    let Some(text) = shell(&script.join("\n")) else { return };
    shows_what_was_created(&text);
}

#[test]
fn second_dev_start_has_the_same_key_and_data() {
    let place = Installation::sqlite();
    let mut starts = Vec::new();
    for _ in 0..2 {
        let service = Service::start(&place, &["dev"]);
        let key = service.said["key"].as_str().unwrap().to_owned();
        let mut client = service.client(&key);
        let me = client.get("/v1/me").unwrap().json();
        let people = client.get("/v1/employees?sort=created_at").unwrap().json();
        let observations = client.get("/v1/observations?sort=created_at").unwrap().json();
        assert!(people["data"].as_array().unwrap().len() > 3);
        assert!(observations["data"].as_array().unwrap().len() > 3);
        let organization = client.get("/v1/organization").unwrap().json();
        assert_eq!(organization["name"], json!("Demo"));
        starts.push((key, me, people, observations));
        service.stop();
    }
    assert_eq!(starts[0], starts[1]);
    for (name, wanted) in [("data", 0o700), ("data/dev-key.json", 0o600), ("data/master.key", 0o600)] {
        let mode = fs::metadata(place.folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, wanted, "{name}");
    }
}

#[test]
fn dev_command_requires_the_embedded_database() {
    let place = Installation::sqlite().with("CANDOR_DATABASE_URL", "postgres://app:hunter2@127.0.0.1:1/x");
    let refusal = candor(&place, &["dev"]);
    assert_eq!((refusal.code, refusal.stdout.as_str()), (Some(1), ""));
    assert!(refusal.stderr.contains("candor serve") && !refusal.stderr.contains("hunter2"), "{}", refusal.stderr);
}

/// Asserts that the code of a link can be exchanged for a key exactly once. Returns the answer of `/v1/me` to the
/// key.
fn opened_once(service: &Service, link: &Value) -> Value {
    let code = link.as_str().unwrap().split_once("/console/#code=").unwrap().1;
    let exchange = || {
        let body = json!({"code": code});
        service.anonymous().unwrap().post("/v1/portal-links/exchange", &body).unwrap()
    };
    let first = exchange();
    assert_eq!((first.status, exchange().status), (200, 404));
    service.client(first.json()["key"].as_str().unwrap()).get("/v1/me").unwrap().json()
}

#[test]
fn printed_link_opens_the_console_once() {
    let place = Installation::sqlite();
    let service = Service::start(&place, &["dev"]);
    let link_json = candor(&place, &["console", "--scopes", "webhooks:read", "--json"]).json();
    let all = opened_once(&service, &service.said["console_url"]);
    assert_eq!((&all["scopes"], &all["access_level"]), (&json!(["*"]), &json!("admin")));
    assert_eq!(opened_once(&service, &link_json["url"])["scopes"], json!(["webhooks:read"]));
    service.stop();
}

#[test]
fn first_serve_without_a_key_prints_a_link() {
    let place = Installation::sqlite().with("CANDOR_CONSOLE", "on");
    candor(&place, &["migrate"]).succeeded();
    candor(&place, &["org", "create", "--name", "Example"]).succeeded();
    let service = Service::serve(&place);
    assert_eq!(opened_once(&service, &service.said["console_url"])["access_level"], json!("admin"));
    service.stop();
    let service = Service::serve(&place);
    assert_eq!(service.said["console_url"], Value::Null, "the link has left a key");
    service.stop();
}
