//! Tests the ledger of erasures: it repeats the erasures in a database that was restored from an older backup, on
//! both stores.

use std::fs;
use std::path::PathBuf;

use candor_test_postgres::TestSession;
use serde_json::{Value, json};

use crate::support::{Client, Installation, PATIENCE, Service, candor, wait_until};

const KEY_RING: &str = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// Word in every text about the erased person.
pub(crate) const CANARY: &str = "zyanthra";

fn place(place: Installation) -> Installation {
    place.with("CANDOR_MASTER_KEY", KEY_RING)
}

fn url(place: &Installation) -> String {
    format!("sqlite://{}", place.folder.path().join("data/candor.db").display())
}

fn create_resource(client: &mut Client, path: &str, body: &Value) -> Value {
    let response = client.post(path, body).unwrap();
    assert!((200..300).contains(&response.status), "{path}: {}", response.text());
    response.json()
}

/// A service whose data was erased after a backup.
struct ErasedService {
    original: Installation,
    key: String,
    /// Paths of the person, of an observation about them, and of the erasure.
    paths: [String; 3],
    erasure: Value,
    ledger: PathBuf,
}

/// Creates a person, calls `back_up` while they are active, and begins their erasure.
fn erase_after_backup(back_up: impl FnOnce(&Installation)) -> ErasedService {
    let original = place(Installation::sqlite());
    let key = original.key("*", &["--admin"]).secret;
    let service = Service::serve(&original);
    let mut client = service.client(&key);
    let body = json!({"email": format!("{CANARY}@example.com"), "first_name": CANARY, "last_name": "Moreau"});
    let person = create_resource(&mut client, "/v1/employees", &body)["id"].as_str().unwrap().to_owned();
    let body = json!({"employee_id": person, "type": "strength", "observation": format!("Of {CANARY}.")});
    let observation = create_resource(&mut client, "/v1/observations", &body)["id"].as_str().unwrap().to_owned();
    service.stop();
    back_up(&original);
    let service = Service::serve(&original);
    let mut client = service.client(&key);
    create_resource(&mut client, &format!("/v1/employees/{person}/deactivate"), &json!({}));
    let erasure = create_resource(&mut client, &format!("/v1/employees/{person}/erasure"), &json!({}));
    service.stop();
    let ledger = original.folder.path().join("ledger.jsonl");
    let ledger_text = candor(&original, &["erasure", "ledger"]).succeeded().stdout;
    assert!(ledger_text.contains(&person) && !ledger_text.contains(CANARY), "{ledger_text}");
    fs::write(&ledger, ledger_text).unwrap();
    let id = erasure["id"].as_str().unwrap();
    let paths = [
        format!("/v1/employees/{person}"),
        format!("/v1/observations/{observation}"),
        format!("/v1/erasures/{id}"),
    ];
    ErasedService { original, key, paths, erasure, ledger }
}

fn apply(place: &Installation, erased: &ErasedService) -> Value {
    candor(place, &["erasure", "apply", erased.ledger.to_str().unwrap(), "--json"]).json()
}

/// Returns the finding of `candor doctor` about the erasures.
fn finding(place: &Installation, erased: &ErasedService) -> String {
    candor(place, &["doctor", "--ledger", erased.ledger.to_str().unwrap()]).stdout
}

fn is_repeated_on(restored: &Installation, erased: &ErasedService) {
    assert!(finding(restored, erased).contains("does not have 1 of 1 erasures"), "{}", finding(restored, erased));
    let none: [&str; 0] = [];
    let outcome = |repeated, present| json!({"revoked_keys": none, "held": 0, "released": none, "held_beside_ledger": none, "repeated": repeated, "present": present, "unknown_people": none, "refused": none, "kept_by_hold": none, "is_complete": true});
    for wanted in [outcome(1, 0), outcome(0, 1)] {
        let mut outcome_json = apply(restored, erased);
        let written_at = outcome_json.as_object_mut().unwrap().remove("written_at").unwrap();
        assert!(fs::read_to_string(&erased.ledger).unwrap().contains(written_at.as_str().unwrap()));
        assert_eq!(outcome_json, wanted);
    }
    assert!(
        finding(restored, erased).contains("nothing of the ledger is missing"),
        "{}",
        finding(restored, erased)
    );
    let service = Service::serve(restored);
    let mut client = service.client(&erased.key);
    let [person, observation, erasure] = &erased.paths;
    let person_json = client.get(person).unwrap().json();
    assert_eq!((&person_json["first_name"], &person_json["status"]), (&json!("Former"), &json!("deactivated")));
    assert_eq!(client.get(observation).unwrap().status, 404);
    let receipt = client.get(erasure).unwrap().json();
    assert_eq!(receipt["status"], "completed");
    for member in ["id", "employee_id", "requested_at", "requested_by"] {
        assert_eq!(receipt[member], erased.erasure[member], "{member}");
    }
    for path in ["/v1/employees", "/v1/events", "/v1/audit-log"] {
        let text = client.get(path).unwrap().text();
        assert!(!text.contains(CANARY), "{path}: {text}");
    }
    assert!(!service.log().contains(CANARY), "{}", service.log());
    service.stop();
}

fn has_no_canary_in_files(place: &Installation) {
    for file in fs::read_dir(place.folder.path().join("data")).unwrap() {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let is_canary_left =
            bytes.windows(CANARY.len()).any(|window| window.eq_ignore_ascii_case(CANARY.as_bytes()));
        assert!(!is_canary_left, "{}", path.display());
    }
}

#[test]
fn erasure_is_repeated_after_a_restore_on_sqlite() {
    let restored_place = place(Installation::sqlite());
    let original_place = erase_after_backup(|original| {
        let file = restored_place.folder.path().join("backup.db");
        candor(original, &["backup", file.to_str().unwrap()]).succeeded();
        candor(&restored_place, &["restore", file.to_str().unwrap()]).succeeded();
    });
    is_repeated_on(&restored_place, &original_place);
    has_no_canary_in_files(&restored_place);
    assert_eq!(
        candor(&restored_place, &["erasure", "scrub", "--json"]).json(),
        json!({"tables": [], "file": true})
    );
    let of_original = apply(&original_place.original, &original_place);
    assert_eq!((&of_original["present"], &of_original["is_complete"]), (&json!(1), &json!(true)));
}

#[test]
fn holds_of_the_ledger_keep_data_from_its_erasures() {
    let restored_place = place(Installation::sqlite());
    let original = place(Installation::sqlite());
    let key = original.key("*", &["--admin"]).secret;
    let service = Service::serve(&original);
    let mut client = service.client(&key);
    let mut hire = |name: &str| {
        let body = json!({"email": format!("{name}@example.com"), "first_name": name, "last_name": "Q"});
        create_resource(&mut client, "/v1/employees", &body)["id"].as_str().unwrap().to_owned()
    };
    let [held, erased, third] = ["held", "erased", "third"].map(&mut hire);
    let body = json!({"title": "Talk", "participant_ids": [held, erased, third]});
    let talk = create_resource(&mut client, "/v1/conversations", &body)["id"].as_str().unwrap().to_owned();
    let messages = format!("/v1/conversations/{talk}/messages");
    create_resource(&mut client, &messages, &json!({"author_id": erased, "body": "EVIDENCE"}));
    // The person who will be held has left the conversation.
    let remaining_people = json!({"participant_ids": [erased, third]});
    assert_eq!(
        client
            .request("PATCH", &format!("/v1/conversations/{talk}"), &[], Some(&remaining_people))
            .unwrap()
            .status,
        200
    );
    service.stop();
    let file = restored_place.folder.path().join("backup.db");
    candor(&original, &["backup", file.to_str().unwrap()]).succeeded();
    candor(&restored_place, &["restore", file.to_str().unwrap()]).succeeded();
    let service = Service::serve(&original);
    let mut client = service.client(&key);
    let hold = format!("/v1/employees/{held}/legal-hold");
    let reason = json!({"reason": "Case SECRET"});
    assert_eq!(client.request("PUT", &hold, &[], Some(&reason)).unwrap().status, 200);
    for request in ["deactivate", "erasure"] {
        create_resource(&mut client, &format!("/v1/employees/{erased}/{request}"), &json!({}));
    }
    let waits = || client.get("/v1/erasures").unwrap().json()["data"][0]["kept_by_hold"] == 1;
    assert!(wait_until(PATIENCE, waits).is_some(), "the conversation is kept");
    let log = fs::read(original.folder.path().join("data/candor.db-wal")).unwrap();
    let is_in_log = |text: &str| log.windows(text.len()).any(|bytes| bytes == text.as_bytes());
    assert!(!is_in_log("erased@example.com"), "the write-ahead log keeps nothing of removed rows");
    service.stop();
    let ledger = original.folder.path().join("ledger.jsonl");
    let ledger_text = candor(&original, &["erasure", "ledger"]).succeeded().stdout;
    assert!(ledger_text.contains(&held) && !ledger_text.contains("SECRET"), "{ledger_text}");
    fs::write(&ledger, &ledger_text).unwrap();
    let apply_run = candor(&restored_place, &["erasure", "apply", ledger.to_str().unwrap(), "--json"]);
    assert_eq!(apply_run.object()["held"], 1, "{}", apply_run.stderr);
    let kept_counts = apply_run.object()["kept_by_hold"].clone();
    assert!(
        kept_counts[0]["count"] == 1 && ledger_text.contains(kept_counts[0]["id"].as_str().unwrap()),
        "{kept_counts}"
    );
    let service = Service::serve(&restored_place);
    let mut client = service.client(&key);
    assert_eq!(client.get(&hold).unwrap().json()["reason"], "Case SECRET");
    assert!(client.get(&messages).unwrap().text().contains("EVIDENCE"), "the hold keeps the conversation");
    assert_eq!(client.get(&format!("/v1/employees/{erased}")).unwrap().json()["first_name"], "Former");
}

#[test]
fn restore_is_finished_despite_later_people_and_ended_holds() {
    let (original, restored_place) = (place(Installation::sqlite()), place(Installation::sqlite()));
    let key = original.key("*", &["--admin"]).secret;
    let service = Service::serve(&original);
    let mut client = service.client(&key);
    let hire = |client: &mut Client, name: &str| {
        let body = json!({"email": format!("{name}@example.com"), "first_name": CANARY, "last_name": "Q"});
        create_resource(client, "/v1/employees", &body)["id"].as_str().unwrap().to_owned()
    };
    let [witness, person] = ["witness", "person"].map(|name| hire(&mut client, name));
    let body = json!({"employee_id": person, "author_id": witness, "type": "strength", "observation": CANARY});
    create_resource(&mut client, "/v1/observations", &body);
    let hold = format!("/v1/employees/{witness}/legal-hold");
    assert_eq!(client.request("PUT", &hold, &[], Some(&json!({"reason": "Case"}))).unwrap().status, 200);
    service.stop();
    let file = restored_place.folder.path().join("backup.db");
    candor(&original, &["backup", file.to_str().unwrap()]).succeeded();
    candor(&restored_place, &["restore", file.to_str().unwrap()]).succeeded();
    fs::remove_file(&file).unwrap();
    let service = Service::serve(&original);
    let mut client = service.client(&key);
    assert_eq!(client.request("DELETE", &hold, &[], None).unwrap().status, 204);
    let late_person = hire(&mut client, "late");
    for id in [&witness, &person, &late_person] {
        create_resource(&mut client, &format!("/v1/employees/{id}/deactivate"), &json!({}));
        create_resource(&mut client, &format!("/v1/employees/{id}/erasure"), &json!({}));
    }
    service.stop();
    let ledger = original.folder.path().join("ledger.jsonl");
    fs::write(&ledger, candor(&original, &["erasure", "ledger"]).succeeded().stdout).unwrap();
    let doctor = || candor(&restored_place, &["doctor", "--ledger", ledger.to_str().unwrap()]).stdout;
    let difference = "does not have 2 of 3 erasures of the ledger, and 1 legal holds differ";
    assert!(doctor().contains(difference), "{}", doctor());
    let apply_run = candor(&restored_place, &["erasure", "apply", ledger.to_str().unwrap(), "--json"]);
    assert_eq!(apply_run.code, Some(0), "{}", apply_run.stderr);
    let outcome = apply_run.object();
    assert_eq!((&outcome["released"], &outcome["repeated"]), (&json!([witness]), &json!(2)), "{outcome}");
    assert_eq!((&outcome["unknown_people"], &outcome["kept_by_hold"]), (&json!([late_person]), &json!([])));
    assert!(!restored_place.folder.path().join("data/candor.db.restored").exists(), "the restore is finished");
    has_no_canary_in_files(&restored_place);
    assert!(doctor().contains("nothing of the ledger is missing"), "{}", doctor());
}

/// Asserts that neither a row of any table nor the statistics of the server contain the canary, as text or as
/// hexadecimal bytes.
pub(crate) fn is_in_no_row(database: &str) {
    let session = TestSession::connect(database).unwrap();
    session.execute("ANALYZE").unwrap();
    let tables = session.texts(
        "SELECT oid::regclass::text AS value FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace \
         UNION ALL SELECT 'pg_statistic' UNION ALL SELECT 'pg_statistic_ext_data'",
    );
    let hexadecimal: String = CANARY.bytes().map(|byte| format!("{byte:02x}")).collect();
    for table in tables.unwrap() {
        let text = "t::text ILIKE";
        let rows = format!(
            "SELECT t::text AS value FROM {table} t WHERE {text} '%{CANARY}%' OR {text} '%{hexadecimal}%'"
        );
        assert_eq!(session.texts(&rows).unwrap(), Vec::<String>::new(), "{table}");
    }
}

#[test]
fn erasure_is_repeated_after_a_restore_on_postgres() {
    let Some(restored_installation) = Installation::empty_postgres() else { return };
    let restored_place = place(restored_installation);
    let restored_url =
        restored_place.settings.iter().find(|(name, _)| name == "CANDOR_DATABASE_URL").unwrap().1.clone();
    let original_place = erase_after_backup(|original| {
        candor(original, &["copy", "--from", &url(original), "--to", &restored_url]).succeeded();
    });
    is_repeated_on(&restored_place, &original_place);
    is_in_no_row(&restored_url);
    let scrub_json = candor(&restored_place, &["erasure", "scrub", "--json"]).json();
    assert!(scrub_json["tables"].as_array().unwrap().contains(&json!("observations")), "{scrub_json}");
}

#[test]
fn scrub_removes_statistics_of_an_older_database() {
    let Some(place) = Installation::postgres() else { return };
    let place = self::place(place);
    let database = place.settings.iter().find(|(name, _)| name == "CANDOR_DATABASE_URL").unwrap().1.clone();
    let key = place.key("*", &["--admin"]).secret;
    let service = Service::serve(&place);
    let mut client = service.client(&key);
    for number in 0..10 {
        let body =
            json!({"email": format!("{CANARY}{number}@example.com"), "first_name": CANARY, "last_name": "Moreau"});
        create_resource(&mut client, "/v1/employees", &body);
    }
    service.stop();
    let session = TestSession::connect(&database).unwrap();
    let target = |target: i8| {
        format!(
            "ALTER TABLE employees ALTER COLUMN first_name SET STATISTICS {target}, ALTER COLUMN email SET STATISTICS {target}"
        )
    };
    // The state after an upgrade: the values were sampled before the target was set.
    for statement in [&target(-1), "ANALYZE employees", &target(0)] {
        session.execute(statement).unwrap();
    }
    let sample_query = format!(
        "SELECT attname::text AS value FROM pg_stats WHERE tablename = 'employees' AND \
         (most_common_vals::text || ' ' || COALESCE(histogram_bounds::text, '') LIKE '%{CANARY}%' \
         OR histogram_bounds::text LIKE '%{CANARY}%') ORDER BY 1"
    );
    assert_eq!(session.texts(&sample_query).unwrap(), ["email", "first_name"]);
    let scrub_json = candor(&place, &["erasure", "scrub", "--json"]).json();
    assert_eq!(scrub_json["tables"].as_array().unwrap().last(), Some(&json!("pg_statistic")));
    session.execute("ANALYZE").unwrap();
    assert_eq!(session.texts(&sample_query).unwrap(), Vec::<String>::new());
}

#[test]
fn ledger_that_is_cut_or_unknown_is_refused() {
    let erased_place = erase_after_backup(|_| ());
    let text = fs::read_to_string(&erased_place.ledger).unwrap();
    let cut = erased_place.original.folder.path().join("cut.jsonl");
    fs::write(&cut, text.lines().take(2).collect::<Vec<_>>().join("\n")).unwrap();
    let cut_refusal = candor(&erased_place.original, &["erasure", "apply", cut.to_str().unwrap()]);
    assert_eq!(cut_refusal.code, Some(1));
    assert!(
        cut_refusal.stderr.contains("line 3") && cut_refusal.stderr.contains("`end`"),
        "{}",
        cut_refusal.stderr
    );
    let other = place(Installation::sqlite());
    other.key("*", &[]);
    let unknown = candor(&other, &["erasure", "apply", erased_place.ledger.to_str().unwrap()]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("has no organization of the ledger"), "{}", unknown.stderr);
    // A restored database keeps its mark, because this ledger belongs to another database.
    candor(&other, &["backup", "copy.db"]).succeeded();
    let restored_place = place(Installation::sqlite());
    let backup = other.folder.path().join("copy.db");
    candor(&restored_place, &["restore", backup.to_str().unwrap()]).succeeded();
    let is_marked = || restored_place.folder.path().join("data/candor.db.restored").exists();
    assert!(is_marked());
    assert_eq!(
        candor(&restored_place, &["erasure", "apply", erased_place.ledger.to_str().unwrap()]).code,
        Some(1)
    );
    assert!(is_marked(), "the mark of the restore stays");
    let service = Service::serve(&erased_place.original);
    let refusal = candor(&erased_place.original, &["erasure", "apply", erased_place.ledger.to_str().unwrap()]);
    assert!(refusal.code == Some(1) && refusal.stderr.contains("stop it first"), "{}", refusal.stderr);
    service.stop();
}

#[test]
fn forged_line_and_a_held_person_need_to_be_named() {
    let restored_place = place(Installation::sqlite());
    let original_place = erase_after_backup(|original| {
        let file = restored_place.folder.path().join("backup.db");
        candor(original, &["backup", file.to_str().unwrap()]).succeeded();
        candor(&restored_place, &["restore", file.to_str().unwrap()]).succeeded();
    });
    let text = fs::read_to_string(&original_place.ledger).unwrap();
    let mut line: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    let id = line["id"].as_str().unwrap().to_owned();
    let genuine = line["seal"].clone();
    let forged_ledger = restored_place.folder.path().join("forged.jsonl");
    let apply = |line: &str, more: &[&str]| {
        let lines: Vec<_> = text.lines().collect();
        fs::write(&forged_ledger, format!("{}\n{line}\n{}\n", lines[0], lines[2])).unwrap();
        let ran = candor(
            &restored_place,
            &[&["erasure", "apply", forged_ledger.to_str().unwrap(), "--json"], more].concat(),
        );
        (ran.code, serde_json::from_str::<Value>(&ran.stdout).unwrap_or_else(|_| json!(ran.stderr)))
    };
    let expected_refusals = |reason: &str| json!([{"id": id, "reason": reason}]);
    line.as_object_mut().unwrap().remove("seal");
    let (code, outcome) = apply(&line.to_string(), &[]);
    assert!(code == Some(1) && outcome.to_string().contains("altered, removed or added"), "{outcome}");
    let other = ["--force", "era_00000000000000000000000001"];
    let (code, outcome) = apply(&line.to_string(), &other);
    assert_eq!((code, &outcome["refused"]), (Some(1), &expected_refusals("not_sealed")), "a line without a seal");
    line["seal"] = genuine;
    line["requested_at"] = json!("2026-01-01T00:00:00.000Z");
    let (code, outcome) = apply(&line.to_string(), &other);
    assert_eq!((code, &outcome["refused"]), (Some(1), &expected_refusals("not_sealed")), "an altered line");
    let service = Service::serve(&restored_place);
    let mut client = service.client(&original_place.key);
    let hold = format!("{}/legal-hold", original_place.paths[0]);
    assert_eq!(client.request("PUT", &hold, &[], Some(&json!({"reason": "Lawsuit"}))).unwrap().status, 200);
    service.stop();
    let (code, outcome) = apply(text.lines().nth(1).unwrap(), &[]);
    assert_eq!((code, &outcome["refused"]), (Some(1), &expected_refusals("legal_hold")), "a held person");
    let (code, outcome) = apply(&line.to_string(), &["--force", &id]);
    assert_eq!((code, &outcome["repeated"], &outcome["refused"]), (Some(1), &json!(1), &json!([])), "{outcome}");
    assert!(outcome["written_at"].is_null(), "the end of a forged ledger proves no time");
    let cut_text = "{\"type\":\"header\",\"version\":5}\n{\"type\":\"end\",\"count\":0}\n";
    fs::write(&forged_ledger, cut_text).unwrap();
    let cut_result = candor(&restored_place, &["erasure", "apply", forged_ledger.to_str().unwrap()]);
    assert!(cut_result.code == Some(1) && cut_result.stderr.contains("may be missing"), "{}", cut_result.stderr);
    assert!(restored_place.folder.path().join("data/candor.db.restored").exists());
}
