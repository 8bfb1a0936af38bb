//! Tests `candor import` against refusing, busy, silent and missing services.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::TcpListener;
use std::process::Child;
use std::thread;

use serde_json::{Value, json};

use crate::support::{Installation, candor, fed, finished, signal, spawn};

const DONE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 74\r\nConnection: close\r\n\r\n\
    {\"data\":{\"created\":1,\"updated\":0,\"deactivated\":0,\"skipped\":0,\"errors\":[]}}";
const DENIED: &str = "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";

/// Serves the given answers, one per connection. The thread returns the received idempotency keys.
fn serve_answers(responses: &'static [&'static str]) -> (String, thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let keys = thread::spawn(move || {
        let mut keys = vec![];
        for response in responses {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut key, mut length) = (None, 0);
            for line in reader
                .by_ref()
                .lines()
                .map(|line| line.unwrap().to_lowercase())
                .take_while(|line| !line.is_empty())
            {
                if let Some(value) = line.strip_prefix("idempotency-key:") {
                    key = Some(value.trim().to_owned());
                }
                if let Some(value) = line.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
            }
            reader.read_exact(&mut vec![0; length]).unwrap();
            keys.push(key.unwrap());
            stream.write_all(response.as_bytes()).unwrap();
        }
        keys
    });
    (url, keys)
}

fn place() -> Installation {
    let place = Installation::sqlite().with("CANDOR_API_KEY", "cdr_live_x");
    std::fs::write(place.folder.path().join("people.csv"), "email\na@example.com\n").unwrap();
    place
}

/// Waits for a line on standard error that contains the text. Later lines stay unread.
fn says(process: &mut Child, text: &str) {
    let mut lines = BufReader::new(process.stderr.as_mut().unwrap()).lines();
    assert!(
        lines.any(|line| line.unwrap().contains(text)),
        "the process ended without {text:?} on standard error"
    );
}

#[test]
fn import_waits_for_the_quota_and_keeps_the_idempotency_key() {
    let (url, keys) = serve_answers(&[
        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 0\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
        "",
        DONE,
    ]);
    let run = candor(&place(), &["import", "people.csv", "--url", &url, "--json"]);
    for said in ["the quota of uploads is used up", "503", "retrying"] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
    assert_eq!(run.json()["data"]["created"], 1);
    let keys = keys.join().unwrap();
    assert!(keys.len() == 4 && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
}

#[test]
fn import_reads_standard_input() {
    let (url, keys) = serve_answers(&[DONE]);
    let run = fed(&place(), &["import", "-", "--url", &url, "--json"], b"email\nb@example.com\n");
    assert_eq!(run.json()["import"]["rows_applied"], 1);
    assert_eq!(keys.join().unwrap().len(), 1);
    let failed_run = fed(&place(), &["import", "-", "--url", &url], b"email\n\xff@example.com\n");
    assert_eq!(
        (failed_run.code, failed_run.stderr.contains("standard input")),
        (Some(1), true),
        "{}",
        failed_run.stderr
    );
}

#[test]
fn interrupted_import_without_server_reports_nothing_imported() {
    let url = format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let place = place();
        let mut process = spawn(&place, &["import", "people.csv", "--url", &url, "--json"]);
        says(&mut process, "retrying");
        signal(process.id(), name);
        let exit = finished(process);
        assert_eq!(exit.code, Some(code), "{}", exit.stderr);
        assert!(exit.stderr.contains("no rows were imported"), "{}", exit.stderr);
        let object = &exit.object()["import"];
        assert_eq!((&object["complete"], &object["rows_sent"]), (&json!(false), &json!(0)), "{object}");
        assert!(object["error"].as_str().unwrap().contains("no rows were imported"), "{object}");
    }
}

#[test]
fn interrupted_import_without_answer_reports_unknown_result() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let place = place();
    let mut process = spawn(&place, &["import", "people.csv", "--url", &url]);
    says(&mut process, "the service has not responded yet");
    signal(process.id(), "INT");
    let exit = finished(process);
    assert_eq!(exit.code, Some(130), "{}", exit.stderr);
    assert!(exit.stderr.contains("it is unknown whether rows were imported"), "{}", exit.stderr);
    assert!(exit.stdout.contains("sent, no response"), "{}", exit.stdout);
    drop(listener);
}

/// Returns a file with one row more than fits into one part.
fn two_parts() -> String {
    let mut file = "email\n".to_owned();
    (0..=10_000).for_each(|number| writeln!(file, "p{number}@example.com").unwrap());
    file
}

#[test]
fn import_that_fails_midway_reports_each_part() {
    let place = place();
    std::fs::write(place.folder.path().join("people.csv"), two_parts()).unwrap();
    let import = |options: &[&str]| {
        let (url, served) = serve_answers(&[DONE, DENIED]);
        let it = candor(&place, &[&["import", "people.csv", "--url", &url], options].concat());
        served.join().unwrap();
        it
    };
    let failed_run = import(&["--json"]);
    assert_eq!(
        (failed_run.code, failed_run.stderr.contains("imported rows stay")),
        (Some(1), true),
        "{}",
        failed_run.stderr
    );
    let object = failed_run.object();
    let states: Vec<&Value> =
        object["import"]["parts"].as_array().unwrap().iter().map(|item| &item["state"]).collect();
    assert_eq!(states, ["applied", "not_sent"]);
    let far = ["complete", "rows", "rows_sent", "rows_applied"].map(|name| object["import"][name].clone());
    assert_eq!(far, [json!(false), json!(10_001), json!(10_000), json!(10_000)]);
    let people = import(&[]).stdout;
    assert!(people.contains("10000 of 10001 rows sent, 10000 applied"), "{people}");
    let dry_run = import(&["--dry-run"]);
    assert!(dry_run.stderr.contains("dry run, nothing was written"), "{}", dry_run.stderr);
}
