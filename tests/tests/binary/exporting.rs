//! Tests `candor export` against the built binary: files, interruption, spreadsheets and following.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use candor_domain::access::Tenant;
use candor_domain::export::{ExportCursor, ExportPlace, ExportedResource};
use candor_domain::id::EmployeeId;
use candor_domain::page::{Key as PageKey, Position};
use serde_json::{Value, json};

use crate::support::{Client, Installation, Key, PATIENCE, Service, candor, finished, signal, spawn, wait_until};

/// Starts a service with people. Returns an installation whose environment has the key, the key, and the service.
fn start_with_people() -> (Installation, Key, Service) {
    let place = Installation::sqlite();
    let key = place.key("*", &["--admin"]);
    let service = Service::serve(&place);
    let place =
        place.with("CANDOR_API_KEY", &key.secret).with("CANDOR_URL", &format!("http://{}", service.address));
    let mut client = service.client(&key.secret);
    for (number, name) in ["=HYPERLINK(1)", "Lind", "Roy"].iter().enumerate() {
        let body = json!({"email": format!("p{number}@example.com"), "first_name": "P", "last_name": name});
        assert_eq!(client.post("/v1/employees", &body).unwrap().status, 201);
    }
    (place, key, service)
}

fn manifest(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap()
}

/// Returns the last row of each id in a file.
fn rows(path: &Path) -> BTreeMap<String, Value> {
    let text = fs::read_to_string(path).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| (row["id"].as_str().unwrap().to_owned(), row)).collect()
}

#[test]
fn export_writes_a_file_for_each_resource_and_a_manifest() {
    let (place, key, service) = start_with_people();
    let folder = place.folder.path().join("copy");
    let export_json = candor(&place, &["export", "--out", "copy", "--json"]).succeeded().json();
    assert_eq!(export_json["export"], manifest(&folder));
    let mut client = service.client(&key.secret);
    let people = client.all("/v1/employees?filter[status]=all");
    assert_eq!(rows(&folder.join("employees.ndjson")).into_values().collect::<Vec<_>>().len(), people.len());
    for person in people {
        assert_eq!(rows(&folder.join("employees.ndjson"))[person["id"].as_str().unwrap()], person);
    }
    let files = manifest(&folder)["files"].clone();
    assert_eq!(files.as_object().unwrap().len(), 11);
    for file in files.as_object().unwrap().values() {
        let path = folder.join(file["file"].as_str().unwrap());
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(json!([text.lines().count(), text.len()]), json!([file["rows"], file["bytes"]]), "{file}");
        assert_eq!(file["sha256"].as_str().unwrap().len(), 64);
    }
    let file_count = fs::read_dir(&folder).unwrap().count();
    assert_eq!(file_count, 12, "no temporary files are left");
    let second_run = candor(&place, &["export", "--out", "copy"]);
    assert_eq!(second_run.code, Some(2), "{}", second_run.stderr);
    assert!(second_run.stderr.contains("has a complete export"), "{}", second_run.stderr);
}

#[test]
fn exported_cells_are_no_formulas() {
    let (place, _key, _service) = start_with_people();
    let command = ["export", "--out", "copy", "--resources", "employees,departments", "--format", "csv"];
    candor(&place, &command).succeeded();
    let folder = place.folder.path().join("copy");
    let text = fs::read_to_string(folder.join("employees.csv")).unwrap();
    let columns: Vec<_> = text.lines().next().unwrap().split(',').collect();
    assert!(columns.starts_with(&["id"]) && columns.contains(&"last_name"), "{columns:?}");
    assert!(text.contains(",'=HYPERLINK(1),"), "{text}");
    assert_eq!(fs::read(folder.join("departments.csv")).unwrap(), b"", "a resource without rows has no columns");
    let wrong = candor(&place, &["export", "--out", "copy", "--resources", "people"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
}

#[test]
fn unfinished_export_with_an_invented_checkpoint_is_refused() {
    let (place, key, _service) = start_with_people();
    let (whole, folder) = (place.folder.path().join("whole"), place.folder.path().join("copy"));
    candor(&place, &["export", "--out", "whole", "--resources", "employees"]).succeeded();
    let complete = manifest(&whole);
    let text = fs::read_to_string(whole.join("employees.ndjson")).unwrap();
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    // The state of an export that stopped behind a checkpoint with two rows, with half of the third row in the
    // file. The service made no such checkpoint.
    let second: Value = serde_json::from_str(lines[1]).unwrap();
    let id: EmployeeId = second["id"].as_str().unwrap().parse().unwrap();
    let cursor = ExportCursor {
        started_at: complete["started_at"].as_str().unwrap().parse().unwrap(),
        events: Position { key: PageKey::Rank(0), id: [0; 16] },
        place: ExportPlace { resource: ExportedResource::Employees, id: id.to_bytes() },
    };
    let tenant = Tenant::live(key.organization.parse().unwrap());
    let mut partial_export = complete.clone();
    let file = &mut partial_export["files"]["employees"];
    (file["rows"], file["bytes"]) = (json!(2), json!(lines[0].len() + lines[1].len()));
    let state = json!({
        "cursor": cursor.to_text(tenant, &[ExportedResource::Employees]), "is_complete": false, "manifest": partial_export,
    });
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("employees.ndjson.part"), &text[..text.len() - 10]).unwrap();
    fs::write(folder.join("manifest.json.part"), state.to_string()).unwrap();
    let other = candor(&place, &["export", "--out", "copy"]);
    assert_eq!(other.code, Some(2), "other resources: {}", other.stderr);
    let run = candor(&place, &["export", "--out", "copy", "--resources", "employees"]);
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    assert!(run.stderr.contains("cursor must be the `cursor` of a checkpoint"), "{}", run.stderr);
    assert!(!folder.join("manifest.json").exists(), "nothing looks complete");
}

#[test]
fn manifest_of_another_program_and_an_open_folder_are_refused() {
    use std::os::unix::fs::PermissionsExt;

    let (place, _key, _service) = start_with_people();
    let folder = place.folder.path().join("copy");
    candor(&place, &["export", "--out", "copy", "--resources", "employees"]).succeeded();
    let follow = ["export", "--out", "copy", "--follow"];
    let outside = place.folder.path().join("outside.ndjson");
    fs::write(&outside, "kept").unwrap();
    let own = manifest(&folder);
    for file in ["../outside.ndjson", outside.to_str().unwrap(), "outside.ndjson", "employees.csv"] {
        let mut foreign = own.clone();
        foreign["files"]["employees"]["file"] = json!(file);
        fs::write(folder.join("manifest.json"), foreign.to_string()).unwrap();
        let refusal = candor(&place, &follow);
        assert_eq!(refusal.code, Some(1), "{file}: {}", refusal.stderr);
        assert!(refusal.stderr.contains("the manifest names other files"), "{file}: {}", refusal.stderr);
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "kept");
    fs::write(folder.join("manifest.json"), own.to_string()).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let refusal = candor(&place, &follow);
    assert_eq!(refusal.code, Some(2), "{}", refusal.stderr);
    assert!(refusal.stderr.contains("chmod go-w"), "{}", refusal.stderr);
}

#[test]
fn following_export_appends_changed_rows() {
    let (place, key, service) = start_with_people();
    let folder = place.folder.path().join("copy");
    candor(&place, &["export", "--out", "copy"]).succeeded();
    let mut client = service.client(&key.secret);
    let id = rows(&folder.join("employees.ndjson")).into_keys().next().unwrap();
    let change = |client: &mut Client, title: &str| {
        let path = format!("/v1/employees/{id}");
        let response = client.request("PATCH", &path, &[], Some(&json!({"job_title": title})));
        assert_eq!(response.unwrap().status, 200);
    };
    for title in ["Engineer", "Lead"] {
        change(&mut client, title);
        let process = spawn(&place, &["export", "--out", "copy", "--follow"]);
        let is_there = || rows(&folder.join("employees.ndjson"))[&id]["job_title"] == title;
        assert!(wait_until(PATIENCE, is_there).is_some(), "{title} does not arrive");
        signal(process.id(), "INT");
        let exit = finished(process);
        assert_eq!(exit.code, Some(0), "{}", exit.stderr);
    }
    let employee = client.get(&format!("/v1/employees/{id}")).unwrap().json();
    assert_eq!(rows(&folder.join("employees.ndjson"))[&id], employee);
}

/// Returns the files of a folder whose content has a text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let having = files.filter(|path| fs::read_to_string(path).unwrap().contains(text));
    let mut names: Vec<_> = having.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn conversations_are_not_followed_without_their_subjects() {
    let (place, _, _service) = start_with_people();
    let command = ["export", "--out", "part", "--follow", "--resources", "conversations"];
    let failure = candor(&place, &command);
    assert!(failure.code == Some(2) && failure.stderr.contains("add observations"), "{}", failure.stderr);
}

/// Follows an export until this number of rows is removed.
fn follow_until_removed(place: &Installation, settings: &[&str], removed_rows: u64) {
    let folder = place.folder.path().join(settings[1]);
    let process = spawn(place, &[&["export", "--follow"], settings].concat());
    let is_gone = || manifest(&folder)["files"]["removed"]["rows"] == removed_rows;
    assert!(wait_until(PATIENCE, is_gone).is_some(), "{settings:?}: the texts stay");
    signal(process.id(), "INT");
    assert_eq!(finished(process).code, Some(0));
}

#[test]
fn following_export_keeps_nothing_of_an_erased_person() {
    let (place, key, service) = start_with_people();
    let mut client = service.client(&key.secret);
    let id = client.all("/v1/employees")[0]["id"].as_str().unwrap().to_owned();
    let observation = json!({"employee_id": id, "type": "strength", "observation": "SECRET of, \"them\""});
    let first_observation = client.post("/v1/observations", &observation).unwrap().json()["id"].clone();
    let goal = json!({"owner_id": id, "title": "SECRET goal", "status": "approved", "period_start": "2026-01-01",
        "period_end": "2030-12-31"});
    let goal = client.post("/v1/employee-objectives", &goal).unwrap().json()["id"].clone();
    let path = format!("/v1/employee-objectives/{}/check-ins", goal.as_str().unwrap());
    let check_in = client.post(&path, &json!({"note": "SECRET note"})).unwrap().json()["id"].clone();
    let rename_response =
        client.request("PATCH", &format!("/v1/employees/{id}"), &[], Some(&json!({"first_name": "SECRET"})));
    assert_eq!(rename_response.unwrap().status, 200);
    let talkers = ["one", "two"].map(|name| {
        let body = json!({"email": format!("{name}@talk.example"), "first_name": name, "last_name": "Talker"});
        client.post("/v1/employees", &body).unwrap().json()["id"].clone()
    });
    let about = json!({"type": "observation", "id": first_observation});
    let talk = json!({"title": "SECRET talk", "participant_ids": talkers, "about": about});
    assert_eq!(client.post("/v1/conversations", &talk).unwrap().status, 201);
    candor(&place, &["export", "--out", "part", "--resources", "check_ins"]).succeeded();
    let part = place.folder.path().join("part");
    assert_eq!(files_with(&part, "SECRET"), ["check_ins.ndjson"]);
    let texts = [("copy", "ndjson"), ("cells", "csv")];
    for (out, format) in texts {
        candor(&place, &["export", "--out", out, "--format", format]).succeeded();
        let folder = place.folder.path().join(out);
        let files = ["check_ins", "conversations", "employee_objectives", "employees", "observations"];
        let files = files.map(|name| format!("{name}.{format}"));
        assert_eq!(files_with(&folder, "SECRET"), files);
    }
    let erase = |client: &mut Client| {
        for request in ["deactivate", "erasure"] {
            let path = format!("/v1/employees/{id}/{request}");
            assert!(client.post(&path, &json!({})).unwrap().status < 300, "{request}");
        }
    };
    erase(&mut client);
    follow_until_removed(&place, &["--out", "part", "--resources", "check_ins"], 1);
    assert_eq!(files_with(&part, "SECRET"), [""; 0]);
    for (out, format) in texts {
        let folder = place.folder.path().join(out);
        follow_until_removed(&place, &["--out", out, "--format", format], 3);
        assert_eq!(files_with(&folder, "SECRET"), [""; 0]);
        let removed_rows = rows(&folder.join("removed.ndjson"));
        for (id, kind) in
            [(&first_observation, "observation"), (&goal, "employee_objective"), (&check_in, "check_in")]
        {
            assert_eq!(removed_rows[id.as_str().unwrap()]["type"], kind);
        }
        assert!(fs::read_to_string(folder.join(format!("employees.{format}"))).unwrap().contains("Former"));
        let file_count = fs::read_dir(&folder).unwrap().count();
        assert_eq!(file_count, 13, "no temporary files are left");
        for file in manifest(&folder)["files"].as_object().unwrap().values() {
            let bytes = fs::metadata(folder.join(file["file"].as_str().unwrap())).unwrap().len();
            assert_eq!(file["bytes"], bytes, "{file}");
        }
    }
}

#[test]
fn compacted_export_has_one_row_of_each_id() {
    let (place, key, service) = start_with_people();
    let folder = place.folder.path().join("copy");
    let path = folder.join("employees.ndjson");
    candor(&place, &["export", "--out", "copy"]).succeeded();
    let mut client = service.client(&key.secret);
    let id = rows(&path).into_keys().next().unwrap();
    let response =
        client.request("PATCH", &format!("/v1/employees/{id}"), &[], Some(&json!({"job_title": "Lead"})));
    assert_eq!(response.unwrap().status, 200);
    let process = spawn(&place, &["export", "--out", "copy", "--follow"]);
    assert!(wait_until(PATIENCE, || rows(&path)[&id]["job_title"] == "Lead").is_some());
    signal(process.id(), "INT");
    finished(process);
    let (before, lines) = (rows(&path), fs::read_to_string(&path).unwrap().lines().count());
    assert_eq!(lines, before.len() + 1);
    candor(&place, &["export", "--out", "copy", "--compact"]).succeeded();
    assert_eq!((rows(&path), fs::read_to_string(&path).unwrap().lines().count()), (before.clone(), before.len()));
    assert_eq!(manifest(&folder)["files"]["employees"]["rows"], before.len());
}
