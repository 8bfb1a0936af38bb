//! Tests `candor import` and interrupted uploads, on both stores.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::Path;
use std::thread;

use candor_people_csv::{FailedRows, MAX_BYTES, split};
use serde_json::{Value, json};

use crate::support::{Client, Installation, Service, candor, candor_as};

/// Number of rows; their size exceeds the limit of 5 MiB, so that the file is sent in parts. Managers come after
/// their reports.
const ROWS: usize = 2_000;
const NOTE_CHARS: usize = 1_000;
const IMPORTS: usize = 5;

fn large_file() -> String {
    let note = "x".repeat(NOTE_CHARS);
    let mut file = "email,first_name,last_name,manager_email,custom.a,custom.b,custom.c\n".to_owned();
    for it in (0..ROWS).rev() {
        let manager = if it == 0 { String::new() } else { format!("p{}@example.com", (it - 1) / 8) };
        writeln!(file, "p{it}@example.com,Ada,Example,{manager},{note},{note},{note}").unwrap();
    }
    file
}

fn import_files(place: Installation) {
    let organization = place.key("*", &["--admin"]).organization;
    // Each import has a key of its own, because the uploads of one key would wait for its quota.
    let keys = RefCell::new(Vec::from([(); IMPORTS].map(|()| place.key_of(&organization, "*", &["--admin"]))));
    let service = Service::serve(&place);
    let url = format!("http://{}", service.address);
    std::fs::write(place.folder.path().join("people.csv"), large_file()).unwrap();
    let import = |options: &[&str]| {
        let key = keys.borrow_mut().pop().unwrap();
        candor_as(&place, &key, &[&["import", "people.csv", "--url", &url], options].concat())
    };
    let counts = |created: usize, skipped: usize| json!({"created": created, "updated": 0, "deactivated": 0, "skipped": skipped, "errors": []});
    let import_json = import(&["--json"]).json();
    assert_eq!(import_json["data"], counts(ROWS, 0));
    let far =
        ["complete", "error", "rows", "rows_sent", "rows_applied"].map(|name| import_json["import"][name].clone());
    assert_eq!(far, [json!(true), json!(null), json!(ROWS), json!(ROWS), json!(ROWS)]);
    assert!(
        import_json["import"]["parts"].as_array().unwrap().iter().all(|item| item["state"] == "applied"),
        "{import_json}"
    );
    assert_eq!(import(&["--json"]).json()["data"], counts(0, ROWS));

    let wrong = "email,first_name,last_name,role\nnew@example.com,New,Person,\np1@example.com,,,boss\n";
    std::fs::write(place.folder.path().join("people.csv"), wrong).unwrap();
    let dry = import(&["--dry-run", "--json"]);
    let response: Value = serde_json::from_str(&dry.stdout).unwrap();
    assert_eq!(
        (dry.code, &response["plan"][0]["action"], &response["data"]["created"]),
        (Some(1), &json!("create"), &json!(1))
    );
    let dry_run = import(&["--dry-run"]);
    let row = "2    new@example.com  create  first_name: New; last_name: Person";
    assert!(
        dry_run.stdout.starts_with("Nothing was written") && dry_run.stdout.contains(row),
        "{}",
        dry_run.stdout
    );
    let failed_run = import(&[]);
    assert_eq!(failed_run.code, Some(1), "{}", failed_run.stderr);
    assert!(
        failed_run.stdout.starts_with("1 created, 0 updated, 0 deactivated, 0 skipped, 1 failed"),
        "{}",
        failed_run.stdout
    );
    let row = failed_run.stdout.lines().last().unwrap();
    assert!(row.starts_with("3    p1@example.com  role    invalid_enum"), "{}", failed_run.stdout);
    service.stop();
}

#[test]
fn import_of_any_size_reports_failures_on_sqlite() {
    import_files(Installation::sqlite());
}

#[test]
fn import_of_any_size_reports_failures_on_postgres() {
    if let Some(place) = Installation::postgres() {
        import_files(place);
    }
}

/// Compares the parts of files with the table of the client libraries, which divide files by the same rules.
#[test]
fn files_are_divided_as_the_libraries_do() {
    let table: Value = serde_json::from_str(include_str!("../../../clients/csv.json")).unwrap();
    let limit = |value: &Value, most: usize| value.as_u64().map_or(most, |limit| usize::try_from(limit).unwrap());
    let divide = |case: &Value| {
        let file = case["file"].as_str().unwrap().as_bytes();
        split(file, limit(&case["rows"], 1), limit(&case["bytes"], MAX_BYTES)).unwrap()
    };
    for case in table["splits"].as_array().unwrap() {
        let division = divide(case);
        let parts = division.parts.iter().map(|part| {
            let numbers = (!part.is_whole).then_some(&part.numbers);
            json!({"text": String::from_utf8_lossy(&part.bytes), "numbers": numbers, "managers": part.managers})
        });
        let division_json = json!({"parts": parts.collect::<Vec<_>>(), "duplicates": division.duplicates});
        let expected_json = json!({"parts": case["parts"], "duplicates": case["duplicates"]});
        assert_eq!(division_json, expected_json, "{}", case["name"]);
    }
    let report = &table["report"];
    let (mut failed, mut errors) = (FailedRows::default(), Vec::new());
    for (part, response) in divide(report).parts.iter().zip(report["answers"].as_array().unwrap()) {
        let mut rows = response["data"]["errors"].as_array().unwrap().clone();
        failed.convert(part, &mut rows);
        errors.append(&mut rows);
    }
    errors.sort_by_key(|error| error["row_number"].as_u64());
    assert_eq!(json!(errors), report["joined"]["data"]["errors"]);
}

#[test]
fn import_names_a_missing_prerequisite() {
    let place = Installation::sqlite();
    let import = |place: &Installation, url: &str| candor(place, &["import", "people.csv", "--url", url]);
    let no_key = import(&place, "http://127.0.0.1:1");
    assert_eq!((no_key.code, no_key.stderr.contains("CANDOR_API_KEY")), (Some(2), true), "{}", no_key.stderr);
    let place = place.with("CANDOR_API_KEY", "cdr_live_x");
    let no_file = import(&place, "http://127.0.0.1:1");
    assert_eq!((no_file.code, no_file.stderr.contains("people.csv")), (Some(1), true), "{}", no_file.stderr);
    std::fs::write(place.folder.path().join("people.csv"), "email|first_name\n").unwrap();
    let failure = import(&place, "http://127.0.0.1:1");
    assert_eq!((failure.code, failure.stderr.contains("vertical bars")), (Some(1), true), "{}", failure.stderr);
    std::fs::write(place.folder.path().join("people.csv"), "email;first_name\n").unwrap();
    assert_eq!(import(&place, "candor.example").code, Some(2), "no address");
    let service = Service::serve(&place);
    let refusal = import(&place, &format!("http://{}/v1", service.address));
    assert_eq!((refusal.code, refusal.stderr.contains("401")), (Some(1), true), "{}", refusal.stderr);
    assert!(refusal.stderr.contains("semicolons; they are sent with commas"), "{}", refusal.stderr);
    assert!(
        refusal.stderr.contains("no rows were imported") && !refusal.stderr.contains("rows stay"),
        "{}",
        refusal.stderr
    );
    service.stop();
}

/// Writes a file of people in a tree, all with the first name `name`.
fn tree(folder: &Path, file: &str, name: &str, people: std::ops::Range<usize>) {
    let mut text = "email,first_name,last_name,manager_email,department_name\n".to_owned();
    for it in people {
        let manager = if it == 0 { String::new() } else { format!("p{}@example.com", (it - 1) / 8) };
        writeln!(text, "p{it}@example.com,{name},Example,{manager},Dep {}", it % 9).unwrap();
    }
    std::fs::write(folder.join(file), text).unwrap();
}

fn imported_at_once(place: Installation) {
    let admin = place.key("*", &["--admin"]);
    let place = place.with("CANDOR_API_KEY", &admin.secret);
    let service = Service::serve(&place);
    let url = format!("http://{}", service.address);
    tree(place.folder.path(), "one.csv", "One", 0..900);
    tree(place.folder.path(), "two.csv", "Two", 0..1_200);
    let import = |file: &str| candor(&place, &["import", file, "--url", &url, "--json"]).json();
    let (one, two) = thread::scope(|scope| {
        let one = scope.spawn(|| import("one.csv"));
        let two = import("two.csv");
        (one.join().unwrap(), two)
    });
    let count = |response: &Value, name: &str| response["data"][name].as_u64().unwrap();
    assert_eq!(count(&one, "created") + count(&two, "created"), 1_200, "{one} {two}");
    for (response, rows) in [(&one, 900), (&two, 1_200)] {
        assert_eq!(response["data"]["errors"], json!([]));
        assert_eq!(
            count(response, "created") + count(response, "updated") + count(response, "skipped"),
            rows,
            "{response}"
        );
    }
    // Both files define the same managers and departments, so importing one file again makes the names equal.
    let last = import("two.csv");
    assert_eq!(
        (count(&last, "created"), count(&last, "deactivated"), &last["data"]["errors"]),
        (0, 0, &json!([]))
    );
    assert_eq!(count(&import("two.csv"), "skipped"), 1_200);
    service.stop();
}

#[test]
fn concurrent_imports_end_in_one_state_on_sqlite() {
    imported_at_once(Installation::sqlite());
}

#[test]
fn concurrent_imports_end_in_one_state_on_postgres() {
    if let Some(place) = Installation::postgres() {
        imported_at_once(place);
    }
}

/// Number of interrupted uploads.
const TORN: usize = 200;
/// Number of uploads with one key, below its quota of six a minute.
const PER_KEY: usize = 5;

#[test]
fn torn_upload_changes_nothing_and_the_complete_one_succeeds() {
    // All keys together upload more files in a minute than the keys of an organization may.
    let place = Installation::sqlite().with("CANDOR_ORGANIZATION_QUOTA_FACTOR", "1000");
    let admin = place.key("*", &["--admin"]);
    let service = Service::serve(&place);
    let mut file = "email,first_name,last_name,manager_email\n".to_owned();
    for it in 0..40 {
        writeln!(file, "p{it}@example.com,Ada,Example,p{}@example.com", if it == 0 { 39 } else { 40 }).unwrap();
    }
    let file = file.replace("p40@", "p0@").replacen("p39@example.com\n", "\n", 1);
    let key = || {
        let body = json!({"name": "torn", "scopes": ["employees:write"]});
        let key_json = service.client(&admin.secret).post("/v1/api-keys", &body).unwrap().json();
        key_json["key"].as_str().unwrap().to_owned()
    };
    let upload = |client: &mut Client, bytes: &[u8]| {
        let head = client.head("POST", "/v1/employees/csv", None);
        let length = file.len();
        client
            .send(format!("{head}Content-Type: text/csv\r\nContent-Length: {length}\r\n\r\n").as_bytes())
            .unwrap();
        client.send(bytes).unwrap();
    };
    let people = || {
        let path = "/v1/employees?filter[status]=all&limit=100";
        service.client(&admin.secret).get(path).unwrap().json()["data"].as_array().unwrap().len()
    };
    let (mut secret, mut place_of_cut) = (key(), 17_usize);
    for number in 0..TORN {
        if number % PER_KEY == PER_KEY - 1 {
            secret = key();
        }
        // Pseudo-random positions; any distinct ones would do.
        place_of_cut = (place_of_cut * 7919 + 104_729) % file.len();
        upload(&mut service.client(&secret), &file.as_bytes()[..place_of_cut]);
    }
    assert_eq!(people(), 0);
    let mut client = service.client(&admin.secret);
    upload(&mut client, file.as_bytes());
    let response = client.receive().unwrap().json();
    assert_eq!((&response["data"]["created"], &response["data"]["errors"]), (&json!(40), &json!([])));
    assert_eq!(people(), 40);
    service.stop();
}
