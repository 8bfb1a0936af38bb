//! Tests `candor doctor` on both stores: reported problems and remedies.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use candor_test_postgres::TestSession;
use serde_json::{Value, json};

use crate::support::{Installation, Service, candor};

/// Returns exit code, state of each check, and JSON output of the doctor.
fn run_doctor(place: &Installation, options: &[&str]) -> (Option<i32>, BTreeMap<String, String>, Value) {
    let it = candor(place, &[&["doctor", "--json"], options].concat());
    let object = it.object();
    let text = |item: &Value| item.as_str().unwrap().to_owned();
    let checks = object["checks"].as_array().unwrap();
    for check in checks.iter().filter(|check| check["state"] == "broken" || check["state"] == "warning") {
        assert!(check["remedy"].is_string(), "{check}");
    }
    let states = checks.iter().map(|check| (text(&check["check"]), text(&check["state"]))).collect();
    (it.code, states, object)
}

fn states(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(check, state)| ((*check).to_owned(), (*state).to_owned())).collect()
}

/// Removes the check of the disk space, which depends on the test machine.
fn without_disk(mut found: BTreeMap<String, String>) -> BTreeMap<String, String> {
    found.remove("disk");
    found
}

const WELL: [(&str, &str); 6] = [
    ("settings", "ok"),
    ("database", "ok"),
    ("schema", "ok"),
    ("master key", "ok"),
    ("clock", "ok"),
    ("listener", "ok"),
];

#[test]
fn doctor_finds_no_failure_in_a_new_place_and_creates_nothing() {
    let place = Installation::sqlite();
    let (code, found, _) = run_doctor(&place, &[]);
    assert_eq!(code, Some(0), "{found:?}");
    assert_eq!((found["database"].as_str(), found["master key"].as_str()), ("warning", "ok"));
    assert!(found.contains_key("disk"));
    assert!(fs::read_dir(place.folder.path()).unwrap().next().is_none(), "a check creates nothing");
}

#[test]
fn doctor_finds_no_failure_in_a_good_installation_on_sqlite() {
    let place = Installation::sqlite();
    candor(&place, &["migrate"]).succeeded();
    let (code, found, object) = run_doctor(&place, &[]);
    assert_eq!(
        without_disk(found),
        states(&[&WELL[..], &[("folder", "ok"), ("integrity", "ok")]].concat()),
        "{object}"
    );
    assert_eq!(code, Some(0), "{object}");
    let people = candor(&place, &["doctor"]).succeeded().stdout;
    assert!(people.contains("accepts writes"), "{people}");
}

#[test]
fn doctor_finds_no_failure_in_a_good_installation_on_postgres() {
    let Some(place) = Installation::empty_postgres() else { return };
    let (code, found, object) = run_doctor(&place, &[]);
    assert_eq!((code, found["schema"].as_str()), (Some(1), "broken"), "{object}");
    candor(&place, &["migrate"]).succeeded();
    let (code, found, object) = run_doctor(&place, &[]);
    assert_eq!((code, found), (Some(0), states(&WELL)), "{object}");
    let place = place.with("CANDOR_MASTER_KEY", "k1:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=");
    let (code, found, object) = run_doctor(&place, &[]);
    assert_eq!((code, found["master key"].as_str()), (Some(1), "broken"), "{object}");
}

#[test]
fn doctor_and_backup_name_the_restore_of_a_damaged_database() {
    let place = Installation::sqlite();
    place.key("*", &[]);
    let path = place.folder.path().join("data/candor.db");
    let whole = fs::read(&path).unwrap();
    let pages = whole.len() / 4096;
    let mut refusal_count = 0;
    for page in (1..pages).step_by(pages / 12) {
        let mut damaged_bytes = whole.clone();
        damaged_bytes[page * 4096..(page + 1) * 4096].fill(0xa5);
        fs::write(&path, damaged_bytes).unwrap();
        let copy = place.folder.path().join(format!("copy-{page}.db"));
        let backup = candor(&place, &["backup", copy.to_str().unwrap()]);
        let (code, found, object) = run_doctor(&place, &[]);
        if backup.code != Some(0) {
            refusal_count += 1;
            assert_eq!((code, found["integrity"].as_str()), (Some(1), "broken"), "page {page}: {object}");
            assert!(object.to_string().contains("candor restore"), "page {page}: {object}");
            assert!(backup.stderr.contains("candor restore"), "page {page}: {}", backup.stderr);
        }
    }
    assert!(refusal_count > 0, "no page of {pages} mattered");
}

#[test]
fn doctor_names_each_failure_with_its_remedy() {
    let place = Installation::sqlite();
    let organization = place.key("*", &[]).organization;
    let data = place.folder.path().join("data");
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    let (code, found, object) = run_doctor(&place, &[]);
    assert_eq!((code, found["folder"].as_str()), (Some(0), "warning"), "{object}");
    fs::remove_file(data.join("master.key")).unwrap();
    let it = candor(&place, &["doctor"]);
    assert_eq!((it.code, it.stderr.lines().count()), (Some(1), 1), "{}", it.stderr);
    assert!(it.stderr.contains("master key") && it.stdout.contains("--accept-loss"), "{}{}", it.stdout, it.stderr);
    assert!(!data.join("master.key").exists() && !organization.is_empty());
    fs::write(data.join("candor.db"), "no database at all, whatever it is called").unwrap();
    let (code, found, object) = run_doctor(&place, &[]);
    assert_eq!(
        (code, found["database"].as_str(), found["clock"].as_str()),
        (Some(1), "broken", "skipped"),
        "{object}"
    );
}

#[test]
fn doctor_reports_invalid_settings() {
    let (code, found, object) = run_doctor(&Installation::sqlite().with("CANDOR_LISTEN", "nowhere"), &[]);
    assert_eq!((code, found["settings"].as_str()), (Some(1), "broken"), "{object}");
    assert!(object["checks"][0]["message"].as_str().unwrap().contains("CANDOR_LISTEN"), "{object}");
}

#[test]
fn doctor_accepts_an_address_used_by_candor_only() {
    let place = Installation::sqlite();
    let service = Service::start(&place, &["serve", "--admin-listen", "127.0.0.1:0"]);
    let listen = service.address.to_string();
    let admin = service.said["metrics_url"].as_str().unwrap();
    let admin = admin.trim_start_matches("http://").trim_end_matches("/metrics").to_owned();
    let (code, found, object) = run_doctor(&place, &["--listen", &listen, "--admin-listen", &admin]);
    let states = (found["listener"].as_str(), found["admin listener"].as_str());
    assert_eq!((code, states), (Some(0), ("ok", "ok")), "{object}");
    assert!(object["checks"].to_string().contains("a Candor service listens on"), "{object}");
    service.stop();
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let address_in_use = stranger.local_addr().unwrap().to_string();
    // Closes each connection at once; the doctor would wait for a silent listener.
    std::thread::spawn(move || stranger.incoming().for_each(drop));
    let (code, found, object) = run_doctor(&place, &["--listen", &address_in_use]);
    assert_eq!((code, found["listener"].as_str()), (Some(1), "broken"), "{object}");
    assert_eq!(object["broken"], json!(1));
}

#[test]
fn doctor_lists_rows_with_the_text_key_of_another_row() {
    let Some(place) = Installation::postgres() else { return };
    let key = place.key("*", &["--admin"]).secret;
    let service = Service::serve(&place);
    let mut client = service.client(&key);
    let mut create = |path: &str, body: Value| {
        let response = client.post(path, &body).unwrap();
        response.json()["id"].as_str().unwrap_or_else(|| panic!("{}", response.text())).to_owned()
    };
    let mut person =
        |email: &str| create("/v1/employees", json!({"email": email, "first_name": "Ada", "last_name": "Moreau"}));
    let people = [person("ada@example.com"), person("bo@example.com")];
    let departments = ["Straße", "Care"].map(|name| create("/v1/departments", json!({"name": name})));
    service.stop();
    let database = place.settings.iter().find(|(name, _)| name == "CANDOR_DATABASE_URL").unwrap().1.clone();
    let session = TestSession::connect(&database).unwrap();
    // Makes rows as versions before migration 0049 wrote them.
    for statement in [
        "UPDATE employees SET (email, email_key) = (email || U&'\\200B', email_key || U&'\\200B') \
         WHERE email = 'bo@example.com'",
        "UPDATE employees SET (email, email_key) = (replace(email, 'bo@', 'ada@'), replace(email_key, 'bo@', 'ada@'))",
        "UPDATE departments SET name_key = 'straße' WHERE name = 'Straße'",
        "UPDATE departments SET (name, name_key) = ('STRASSE', 'strasse') WHERE name = 'Care'",
    ] {
        session.execute(statement).unwrap();
    }
    let (code, found, object) = run_doctor(&place, &[]);
    let has_findings = ["mailboxes", "department names", "attribute names"].map(|check| found.contains_key(check));
    assert_eq!((code, has_findings), (Some(0), [true, true, false]), "{object}");
    let says = |check: &str| {
        let checks = object["checks"].as_array().unwrap();
        checks.iter().find(|entry| entry["check"] == check).unwrap()["message"].as_str().unwrap().to_owned()
    };
    let names = |text: &str, ids: &[String; 2]| ids.clone().map(|id| text.contains(&id));
    assert_eq!(names(&says("mailboxes"), &people), [false, true], "{object}");
    assert_eq!(names(&says("department names"), &departments), [true, false], "{object}");
}
