//! The operator's commands, on both stores.

use serde_json::json;

use crate::support::{Place, Service, candor};

#[test]
fn organizations_and_keys_are_made_listed_and_revoked_on_sqlite() {
    keys_come_and_go(&Place::sqlite());
}

#[test]
fn organizations_and_keys_are_made_listed_and_revoked_on_postgres() {
    if let Some(place) = Place::postgres() {
        keys_come_and_go(&place);
    }
}

fn keys_come_and_go(place: &Place) {
    let admin = place.key("*", &["--admin"]);
    let narrow = place.key_of(&admin.organization, "observations:read,employees:read", &["--test"]);
    assert!(admin.secret.starts_with("cdr_live_") && narrow.secret.starts_with("cdr_test_"));
    let service = Service::serve(place);
    let me = service.client(&narrow.secret).get("/v1/me").unwrap();
    assert_eq!(me.status, 200, "{}", me.text());
    let denied = service.client(&narrow.secret).post("/v1/departments", &json!({"name": "x"})).unwrap();
    assert_eq!(denied.status, 403);
    let made = service.client(&admin.secret).post("/v1/departments", &json!({"name": "x"})).unwrap();
    assert_eq!(made.status, 201, "{}", made.text());
    service.stop();
    let revoked = candor(place, &["key", "revoke", &narrow.id, "--json"]).json();
    assert_eq!(revoked, json!({"id": narrow.id, "revoked": true}));
    let listed = candor(place, &["key", "list", "--org", &admin.organization, "--json"]).json();
    let states: Vec<(&str, bool)> = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["id"].as_str().unwrap(), it["revoked_at"].is_string()))
        .collect();
    assert_eq!(states, [(narrow.id.as_str(), true), (admin.id.as_str(), false)]);
    let used = listed["data"].as_array().unwrap().iter().all(|it| it["last_used_at"].is_string());
    assert!(used, "an orderly end notes which keys were used: {listed}");
    assert!(!listed.to_string().contains(&admin.secret));
    let again = candor(place, &["key", "revoke", &narrow.id]);
    assert_eq!((again.code, again.stderr.lines().count()), (Some(1), 1), "{}", again.stderr);
    let people = candor(place, &["key", "list", "--org", &admin.organization]).succeeded();
    assert_eq!(people.stdout.lines().count(), 3, "{}", people.stdout);
}

#[test]
fn a_key_for_somebody_who_is_not_there_is_refused() {
    let place = Place::sqlite();
    let admin = place.key("*", &["--admin"]);
    let nobody = "emp_01J00000000000000000000000";
    let create = ["key", "create", "--name", "x", "--scopes", "*", "--org"];
    for options in [&[&admin.organization, "--employee", nobody][..], &["org_01J00000000000000000000000"]] {
        let it = candor(&place, &[&create, options].concat());
        assert_eq!((it.code, it.stdout.as_str(), it.stderr.lines().count()), (Some(1), "", 1), "{}", it.stderr);
        assert!(it.stderr.contains(options[0]), "the line says of what: {}", it.stderr);
    }
    let it = candor(&place, &[&create[..], &[&admin.organization, "--expires", "2020-01-01T00:00:00Z"]].concat());
    assert_eq!((it.code, it.stdout.as_str()), (Some(1), ""), "{}", it.stderr);
    assert!(it.stderr.contains("expires_at must be in the future"), "{}", it.stderr);
    let it = candor(&place, &[&create[..], &[&admin.organization, "--scopes", "everything"]].concat());
    assert_eq!(it.code, Some(2), "{}", it.stderr);
}

#[test]
fn the_embedded_database_is_migrated_on_start_and_the_command_agrees() {
    let place = Place::sqlite();
    let pending = candor(&place, &["migrate", "--check", "--json"]).json();
    assert!(!pending["pending"].as_array().unwrap().is_empty(), "{pending}");
    Service::serve(&place).stop();
    let pending = candor(&place, &["migrate", "--check", "--json"]).json();
    assert_eq!(pending, json!({"database": "sqlite://data/candor.db", "pending": []}));
    assert_eq!(candor(&place, &["migrate", "--json"]).json()["applied"], json!([]));
}

#[test]
fn a_schema_that_is_too_old_is_refused_until_it_is_migrated() {
    let Some(place) = Place::empty_postgres() else { return };
    for command in [&["serve"][..], &["org", "create", "--name", "x"]] {
        let it = candor(&place, command);
        assert_eq!((it.code, it.stdout.as_str(), it.stderr.lines().count()), (Some(1), "", 1), "{}", it.stderr);
        assert!(it.stderr.contains("candor migrate"), "{}", it.stderr);
    }
    let pending = candor(&place, &["migrate", "--check", "--json"]).json()["pending"].clone();
    let applied = candor(&place, &["migrate", "--json"]).json()["applied"].clone();
    assert_eq!(pending, applied);
    assert!(!applied.as_array().unwrap().is_empty());
    Service::serve(&place).stop();
}

#[test]
fn a_server_needs_a_master_key_that_somebody_chose() {
    let place = Place::sqlite().with("CANDOR_DATABASE_URL", "postgres://127.0.0.1:1/x");
    let it = candor(&place, &["serve"]);
    assert_eq!((it.code, it.stderr.lines().count()), (Some(1), 1), "{}", it.stderr);
    assert!(it.stderr.contains("CANDOR_MASTER_KEY"), "{}", it.stderr);
}

#[test]
fn a_database_that_does_not_answer_is_named_without_its_password() {
    let place = Place::sqlite()
        .with("CANDOR_DATABASE_URL", "postgres://app:hunter2@127.0.0.1:1/x")
        .with("CANDOR_MASTER_KEY", "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
    let it = candor(&place, &["serve"]);
    assert_eq!((it.code, it.stderr.lines().count()), (Some(1), 1), "{}", it.stderr);
    assert!(it.stderr.contains("127.0.0.1:1") && !it.stderr.contains("hunter2"), "{}", it.stderr);
}

#[test]
fn a_taken_address_is_named() {
    let place = Place::sqlite();
    let service = Service::serve(&place);
    let it = candor(&place, &["serve", "--listen", &service.address.to_string()]);
    assert_eq!((it.code, it.stderr.lines().count()), (Some(1), 1), "{}", it.stderr);
    assert!(it.stderr.contains(&service.address.to_string()) && it.stderr.contains("CANDOR_LISTEN"), "{}", it.stderr);
}
