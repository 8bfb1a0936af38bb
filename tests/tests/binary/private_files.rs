//! Only the owner of the process may read what it stores.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::support::{Place, Service};

const RING: &str = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn mode(place: &Place, name: &str) -> u32 {
    fs::metadata(place.folder.path().join(name)).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_embedded_database_is_its_owners_alone_with_a_master_key_of_the_operators() {
    let place = Place::sqlite().with("CANDOR_MASTER_KEY", RING);
    let service = Service::serve(&place);
    for (name, wanted) in [("data", 0o700), ("data/candor.db", 0o600), ("data/candor.db-wal", 0o600)] {
        assert_eq!(mode(&place, name), wanted, "{name}");
    }
    assert!(!service.log().contains("chmod 700"), "{}", service.log());
    service.stop();
}

#[test]
fn an_open_database_is_closed_and_an_open_folder_is_named() {
    let place = Place::sqlite().with("CANDOR_MASTER_KEY", RING);
    Service::serve(&place).stop();
    let open = |name: &str, mode| {
        fs::set_permissions(place.folder.path().join(name), Permissions::from_mode(mode)).unwrap();
    };
    open("data", 0o755);
    open("data/candor.db", 0o644);
    let service = Service::serve(&place);
    assert_eq!((mode(&place, "data"), mode(&place, "data/candor.db")), (0o755, 0o600));
    assert_eq!(mode(&place, "data/candor.db-wal"), 0o600);
    assert!(service.log().contains("chmod 700"), "{}", service.log());
    service.stop();
}
