//! Tests that a database requires the master key that sealed it, on both stores.

use std::fs;

use crate::support::{Installation, Service, candor};

const RIGHT: &str = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// A different key with the same id.
const WRONG: &str = "k1:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";

#[test]
fn wrong_master_key_is_refused_on_sqlite() {
    let place = Installation::sqlite().with("CANDOR_MASTER_KEY", RIGHT);
    assert_refused(place, &[&["serve"], &["migrate"], &["rekey"], &["dev"], &["org", "create", "--name", "x"]]);
}

#[test]
fn wrong_master_key_is_refused_on_postgres() {
    let Some(place) = Installation::postgres() else { return };
    let place = place.with("CANDOR_MASTER_KEY", RIGHT);
    assert_refused(place, &[&["serve"], &["serve", "--role", "api"], &["migrate"], &["rekey"]]);
}

fn assert_refused(place: Installation, commands: &[&[&str]]) {
    // Stopped first, because a running service would also make the command fail.
    Service::serve(&place).stop();
    // At level `error`, because `dev` logs other warnings first.
    let wrong = place.with("CANDOR_MASTER_KEY", WRONG).with("CANDOR_LOG", "error");
    for command in commands {
        let it = candor(&wrong, command);
        assert_eq!((it.code, it.stdout.as_str(), it.stderr.lines().count()), (Some(1), "", 1), "{}", it.stderr);
        for word in ["encrypted with k1 (", "the ring has k1 (", "CANDOR_MASTER_KEY"] {
            assert!(it.stderr.contains(word), "{command:?}: {word} in {}", it.stderr);
        }
    }
    let right = wrong.with("CANDOR_MASTER_KEY", RIGHT);
    Service::serve(&right).stop();
}

#[test]
fn master_key_is_not_generated_for_a_used_database() {
    let place = Installation::sqlite().with("CANDOR_LOG", "error");
    place.key("*", &[]);
    let file = place.folder.path().join("data/master.key");
    let file_bytes = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    for command in [&["serve"][..], &["dev"], &["rekey"], &["migrate"]] {
        let it = candor(&place, command);
        assert_eq!((it.code, it.stdout.as_str(), it.stderr.lines().count()), (Some(1), "", 1), "{}", it.stderr);
        assert!(it.stderr.contains("master.key is missing"), "{command:?}: {}", it.stderr);
        assert!(!file.exists());
    }
    fs::write(&file, file_bytes).unwrap();
    Service::serve(&place).stop();
}
