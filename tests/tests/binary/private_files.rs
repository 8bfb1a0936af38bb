//! Only the owner of the process can read its files.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::support::{Installation, Service, candor};

const RING: &str = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn mode(place: &Installation, name: &str) -> u32 {
    fs::metadata(place.folder.path().join(name)).unwrap().permissions().mode() & 0o777
}

#[test]
fn embedded_database_is_owner_only_with_a_configured_key() {
    let place = Installation::sqlite().with("CANDOR_MASTER_KEY", RING);
    let service = Service::serve(&place);
    for (name, wanted) in [("data", 0o700), ("data/candor.db", 0o600), ("data/candor.db-wal", 0o600)] {
        assert_eq!(mode(&place, name), wanted, "{name}");
    }
    assert!(!service.log().contains("chmod 700"), "{}", service.log());
    service.stop();
}

#[test]
fn world_readable_database_is_closed_and_folder_is_named() {
    let place = Installation::sqlite().with("CANDOR_MASTER_KEY", RING);
    Service::serve(&place).stop();
    let open = |name: &str, mode| {
        fs::set_permissions(place.folder.path().join(name), Permissions::from_mode(mode)).unwrap();
    };
    open("data", 0o755);
    open("data/candor.db", 0o644);
    let service = Service::serve(&place);
    assert_eq!((mode(&place, "data"), mode(&place, "data/candor.db")), (0o755, 0o600));
    assert_eq!(mode(&place, "data/candor.db-wal"), 0o600);
    service.wait_for_line("chmod 700");
    service.stop();
}

/// Returns the findings of `candor doctor` about files with secrets.
fn secrets(place: &Installation) -> Vec<serde_json::Value> {
    let mut findings = candor(place, &["doctor", "--json"]).object();
    let checks = findings["checks"].as_array_mut().unwrap();
    checks.extract_if(.., |check| check["check"] == "secrets").collect()
}

fn set_mode(place: &Installation, name: &str, mode: u32) {
    fs::set_permissions(place.folder.path().join(name), Permissions::from_mode(mode)).unwrap();
}

#[test]
fn open_config_file_is_named_if_secrets_are_inside() {
    let place = Installation::sqlite().with("CANDOR_CONFIG", "candor.toml");
    let write = |text: &str| fs::write(place.folder.path().join("candor.toml"), text).unwrap();
    let ring = format!("master_key = \"{RING}\"\n");
    for (text, mode, named) in [
        ("log = \"warn\"\n", 0o644, false),
        (&ring, 0o600, false),
        (&ring, 0o640, false),
        (&ring, 0o644, true),
        ("rate_limiter = \"redis://candor:secret@127.0.0.1:9\"\nlog = \"warn\"\n", 0o604, true),
    ] {
        write(text);
        set_mode(&place, "candor.toml", mode);
        let findings = secrets(&place);
        assert_eq!(findings.len(), usize::from(named), "{text} {mode:o}: {findings:?}");
        if named {
            assert_eq!(
                (&findings[0]["state"], &findings[0]["remedy"]),
                (&"warning".into(), &"chmod o-rwx candor.toml".into())
            );
        }
    }
    write(&ring);
    set_mode(&place, "candor.toml", 0o644);
    let service = Service::serve(&place);
    service.wait_for_line("chmod o-rwx candor.toml");
    service.stop();
}

#[test]
fn open_master_key_file_is_named() {
    let place = Installation::sqlite();
    Service::serve(&place).stop();
    assert!(secrets(&place).is_empty());
    for mode in [0o640, 0o604] {
        set_mode(&place, "data/master.key", mode);
        assert_eq!(secrets(&place)[0]["remedy"], "chmod 600 data/master.key");
    }
    let service = Service::serve(&place);
    service.wait_for_line("chmod 600 data/master.key");
    service.stop();
}
