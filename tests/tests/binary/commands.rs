//! Tests the operator's commands on both stores.

use serde_json::{Value, json};

use crate::support::{Installation, Service, candor};

#[test]
fn organizations_and_keys_are_managed_on_sqlite() {
    keys_come_and_go(&Installation::sqlite());
}

#[test]
fn organizations_and_keys_are_managed_on_postgres() {
    if let Some(place) = Installation::postgres() {
        keys_come_and_go(&place);
    }
}

fn keys_come_and_go(place: &Installation) {
    let admin = place.key("*", &["--admin"]);
    let narrow = place.key_of(&admin.organization, "observations:read,employees:read", &["--test"]);
    assert!(admin.secret.starts_with("cdr_live_") && narrow.secret.starts_with("cdr_test_"));
    let service = Service::serve(place);
    let me = service.client(&narrow.secret).get("/v1/me").unwrap();
    assert_eq!(me.status, 200, "{}", me.text());
    let response_to_narrow =
        service.client(&narrow.secret).post("/v1/departments", &json!({"name": "x"})).unwrap();
    assert_eq!(response_to_narrow.status, 403);
    let response_to_admin = service.client(&admin.secret).post("/v1/departments", &json!({"name": "x"})).unwrap();
    assert_eq!(response_to_admin.status, 201, "{}", response_to_admin.text());
    service.stop();
    let revocation = candor(place, &["key", "revoke", &narrow.id, "--json"]).json();
    assert_eq!(revocation, json!({"id": narrow.id, "revoked": true}));
    let key_list = candor(place, &["key", "list", "--org", &admin.organization, "--json"]).json();
    let states: Vec<(&str, bool)> = key_list["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["id"].as_str().unwrap(), item["revoked_at"].is_string()))
        .collect();
    assert_eq!(states, [(narrow.id.as_str(), true), (admin.id.as_str(), false)]);
    assert_eq!(key_list["data"][0]["organization_id"], admin.organization);
    let is_each_used = key_list["data"].as_array().unwrap().iter().all(|item| item["last_used_at"].is_string());
    assert!(is_each_used, "an orderly stop stores the use of keys: {key_list}");
    assert!(!key_list.to_string().contains(&admin.secret));
    let second_revocation = candor(place, &["key", "revoke", &narrow.id]);
    assert_eq!(
        (second_revocation.code, second_revocation.stderr.lines().count()),
        (Some(1), 1),
        "{}",
        second_revocation.stderr
    );
    let people = candor(place, &["key", "list", "--org", &admin.organization]).succeeded();
    assert_eq!(people.stdout.lines().count(), 3, "{}", people.stdout);
}

#[test]
fn key_for_an_absent_person_or_organization_is_refused() {
    let place = Installation::sqlite();
    let admin = place.key("*", &["--admin"]);
    let nobody = "emp_01J00000000000000000000000";
    let create = ["key", "create", "--name", "x", "--scopes", "*", "--org"];
    for options in [&[&admin.organization, "--employee", nobody][..], &["org_01J00000000000000000000000"]] {
        let it = candor(&place, &[&create, options].concat());
        assert_eq!((it.code, it.stdout.as_str(), it.stderr.lines().count()), (Some(1), "", 1), "{}", it.stderr);
        assert!(it.stderr.contains(options[0]), "the error names the organization: {}", it.stderr);
    }
    let it = candor(&place, &[&create[..], &[&admin.organization, "--expires", "2020-01-01T00:00:00Z"]].concat());
    assert_eq!((it.code, it.stdout.as_str()), (Some(1), ""), "{}", it.stderr);
    assert!(it.stderr.contains("expires_at must be in the future"), "{}", it.stderr);
    let it = candor(&place, &[&create[..], &[&admin.organization, "--scopes", "everything"]].concat());
    assert_eq!(it.code, Some(2), "{}", it.stderr);
}

fn organizations_are_found_and_renamed(place: &Installation) {
    let first = place.key("*", &["--admin"]);
    let second = place.key("*", &["--test"]);
    let rename_json =
        candor(place, &["org", "rename", &second.organization, "--name", "Beta Ltd", "--json"]).json();
    let expected_rename = json!({"organization_id": second.organization, "name": "Beta Ltd", "changed": true});
    assert_eq!(rename_json, expected_rename);
    let organization_list = candor(place, &["org", "list", "--json"]).json();
    let id_and_name = |item: &Value| (item["id"].clone(), item["name"].clone());
    let names: Vec<_> = organization_list["data"].as_array().unwrap().iter().map(id_and_name).collect();
    let expected_organizations = [(&first.organization, "Tests"), (&second.organization, "Beta Ltd")];
    assert_eq!(names, expected_organizations.map(|(id, name)| (json!(id), json!(name))));
    let all = candor(place, &["key", "list", "--json"]).json();
    let owner =
        |item: &Value| (item["id"].clone(), item["organization_id"].clone(), item["organization_name"].clone());
    let owners: Vec<_> = all["data"].as_array().unwrap().iter().map(owner).collect();
    let expected_keys =
        [(&first.id, &first.organization, "Tests"), (&second.id, &second.organization, "Beta Ltd")];
    assert_eq!(
        owners,
        expected_keys.map(|(id, organization, name)| (json!(id), json!(organization), json!(name)))
    );
    for (command, rows) in [(["org", "list"], 3), (["key", "list"], 3)] {
        let people = candor(place, &command).succeeded().stdout;
        assert!(people.lines().count() == rows && people.contains(&second.organization), "{people}");
    }
    let second_rename =
        candor(place, &["org", "rename", &second.organization, "--name", "Beta Ltd", "--json"]).json();
    assert_eq!(second_rename["changed"], false);
    let nobody = "org_01J00000000000000000000000";
    for (id, name, says) in [(nobody, "x", nobody), (&second.organization, "", "name")] {
        let it = candor(place, &["org", "rename", id, "--name", name]);
        assert_eq!((it.code, it.stdout.as_str(), it.stderr.lines().count()), (Some(1), "", 1), "{}", it.stderr);
        assert!(it.stderr.contains(says), "{}", it.stderr);
    }
    let service = Service::serve(place);
    let organization = service.client(&second.secret).get("/v1/organization").unwrap();
    assert_eq!(organization.json()["name"], "Beta Ltd", "the test data set has the name as well");
    service.stop();
}

#[test]
fn organizations_are_found_and_renamed_on_sqlite() {
    organizations_are_found_and_renamed(&Installation::sqlite());
}

#[test]
fn organizations_are_found_and_renamed_on_postgres() {
    if let Some(place) = Installation::postgres() {
        organizations_are_found_and_renamed(&place);
    }
}

#[test]
fn database_is_created_by_serve_and_migrate_only() {
    let place = Installation::sqlite();
    let (id, key) = ("org_01J00000000000000000000000", "key_01J00000000000000000000000");
    for command in [
        &["org", "create", "--name", "x"][..],
        &["org", "list"],
        &["org", "rename", id, "--name", "x"],
        &["key", "create", "--org", id, "--name", "x", "--scopes", "*"],
        &["key", "list"],
        &["key", "revoke", key],
        &["rekey"],
    ] {
        let it = candor(&place, command);
        assert_eq!((it.code, it.stdout.as_str(), it.stderr.lines().count()), (Some(1), "", 1), "{}", it.stderr);
        let database_path = place.folder.path().join("data/candor.db");
        assert!(it.stderr.contains(&database_path.display().to_string()), "{}", it.stderr);
        let files: Vec<_> = std::fs::read_dir(place.folder.path()).unwrap().collect();
        assert!(files.is_empty(), "{command:?} made {files:?}");
    }
    candor(&place, &["migrate"]).succeeded();
    candor(&place, &["org", "create", "--name", "x"]).succeeded();
}

#[test]
fn key_expiry_can_be_a_date() {
    let place = Installation::sqlite();
    let admin = place.key("*", &["--admin"]);
    place.key_of(&admin.organization, "*", &["--expires", "2199-12-01"]);
    place.key_of(&admin.organization, "*", &["--expires", "2199-12-01T10:00:00+02:00"]);
    let key_list = candor(&place, &["key", "list", "--org", &admin.organization, "--json"]).json();
    let ends: Vec<_> =
        key_list["data"].as_array().unwrap().iter().map(|item| item["expires_at"].clone()).collect();
    assert_eq!(ends, [json!("2199-12-01T08:00:00.000Z"), json!("2199-12-01T00:00:00.000Z"), json!(null)]);
    let create = ["key", "create", "--org", &admin.organization, "--name", "x", "--scopes", "*", "--expires"];
    let it = candor(&place, &[&create[..], &["soon"]].concat());
    assert_eq!((it.code, it.stderr.contains("2026-12-01")), (Some(2), true), "{}", it.stderr);
}

#[test]
fn manual_and_completions_need_no_valid_settings() {
    let place = Installation::sqlite().with("CANDOR_LISTEN", "nowhere");
    let manual = candor(&place, &["manual"]).succeeded().stdout;
    assert!(manual.contains(".SH \"CANDOR KEY CREATE\"") && manual.contains("observations:read"), "{manual}");
    let script = candor(&place, &["completions", "bash", "--json"]).json();
    assert_eq!(script["shell"], "bash");
    assert!(script["script"].as_str().unwrap().contains("--clear-empty"));
    let it = candor(&place, &["completions", "cmd"]);
    assert_eq!((it.code, it.stderr.contains("fish")), (Some(2), true), "{}", it.stderr);
}

#[test]
fn embedded_database_is_migrated_on_start_as_by_the_command() {
    let place = Installation::sqlite();
    let check_run = candor(&place, &["migrate", "--check", "--json"]);
    assert_eq!((check_run.code, check_run.stderr.lines().count()), (Some(3), 1), "{}", check_run.stderr);
    assert!(!check_run.object()["pending"].as_array().unwrap().is_empty(), "{}", check_run.stdout);
    assert!(!place.folder.path().join("data").exists(), "a check creates nothing");
    Service::serve(&place).stop();
    let pending = candor(&place, &["migrate", "--check", "--json"]).json();
    assert_eq!(pending, json!({"database": "sqlite://data/candor.db", "pending": []}));
    assert_eq!(candor(&place, &["migrate", "--json"]).json()["applied"], json!([]));
}

#[test]
fn outdated_schema_is_refused_until_migrated() {
    let Some(place) = Installation::empty_postgres() else { return };
    for command in [&["serve"][..], &["org", "create", "--name", "x"]] {
        let it = candor(&place, command);
        assert_eq!((it.code, it.stdout.as_str(), it.stderr.lines().count()), (Some(1), "", 1), "{}", it.stderr);
        assert!(it.stderr.contains("candor migrate"), "{}", it.stderr);
    }
    let check_run = candor(&place, &["migrate", "--check", "--json"]);
    let pending = check_run.object()["pending"].clone();
    assert_eq!(check_run.code, Some(3), "{}", check_run.stderr);
    let applied_migrations = candor(&place, &["migrate", "--json"]).json()["applied"].clone();
    assert_eq!(pending, applied_migrations);
    assert!(!applied_migrations.as_array().unwrap().is_empty());
    assert_eq!(candor(&place, &["migrate", "--check", "--json"]).json()["pending"], json!([]));
    Service::serve(&place).stop();
}

#[test]
fn server_database_requires_a_configured_master_key() {
    let place = Installation::sqlite().with("CANDOR_DATABASE_URL", "postgres://127.0.0.1:1/x");
    let it = candor(&place, &["serve"]);
    assert_eq!((it.code, it.stderr.lines().count()), (Some(1), 1), "{}", it.stderr);
    assert!(it.stderr.contains("CANDOR_MASTER_KEY"), "{}", it.stderr);
}

#[test]
fn unreachable_database_is_named_without_its_password() {
    let place = Installation::sqlite()
        .with("CANDOR_DATABASE_URL", "postgres://app:hunter2@127.0.0.1:1/x")
        .with("CANDOR_MASTER_KEY", "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
    let it = candor(&place, &["migrate"]);
    assert_eq!((it.code, it.stderr.lines().count()), (Some(1), 1), "{}", it.stderr);
    assert!(it.stderr.contains("127.0.0.1:1") && !it.stderr.contains("hunter2"), "{}", it.stderr);
}

#[test]
fn address_in_use_is_named() {
    let place = Installation::sqlite();
    let service = Service::serve(&place);
    let it = candor(&place, &["serve", "--listen", &service.address.to_string()]);
    assert_eq!((it.code, it.stderr.lines().count()), (Some(1), 1), "{}", it.stderr);
    assert!(
        it.stderr.contains(&service.address.to_string()) && it.stderr.contains("CANDOR_LISTEN"),
        "{}",
        it.stderr
    );
}

#[test]
fn second_server_of_one_database_file_is_refused() {
    let place = Installation::sqlite();
    let key = place.key("*", &["--admin"]);
    let service = Service::serve(&place);
    for command in [&["serve"][..], &["dev"], &["serve", "--role", "worker"]] {
        let it = candor(&place, command);
        assert_eq!((it.code, it.stdout.as_str(), it.stderr.lines().count()), (Some(1), "", 1), "{}", it.stderr);
        let process = format!("another process (process {}) serves", service.process_id());
        assert!(it.stderr.contains(&process) && it.stderr.contains("candor.db"), "{}", it.stderr);
    }
    let second_key = place.key_of(&key.organization, "observations:read", &[]);
    assert_eq!(service.client(&second_key.secret).get("/v1/me").unwrap().status, 200);
    candor(&place, &["migrate"]).succeeded();
    service.kill();
    Service::serve(&place).stop();
}

#[test]
fn tables_escape_controls_and_direction_marks_in_names() {
    let place = Installation::sqlite();
    let key = place.key("*", &[]);
    let name = "Beta \u{9b}31m\u{202e}dtL";
    candor(&place, &["org", "rename", &key.organization, "--name", name]).succeeded();
    for command in [["org", "list"], ["key", "list"]] {
        let people = candor(&place, &command).succeeded().stdout;
        assert!(people.contains("Beta \\u{9b}31m\\u{202e}dtL") && !people.contains('\u{9b}'), "{people:?}");
    }
    for end in ["\n", "\u{2028}"] {
        let name = format!("Beta{end}Ltd");
        let refusal = candor(&place, &["org", "rename", &key.organization, "--name", &name]);
        assert_eq!(refusal.code, Some(1), "{}", refusal.stderr);
        assert!(refusal.stderr.contains("without line ends"), "{}", refusal.stderr);
    }
}
