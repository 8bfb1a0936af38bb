//! Tests `candor backup` beside a running service, and `candor restore` of its backup.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::support::{Installation, Service, candor};

fn path(place: &Installation, name: &str) -> PathBuf {
    place.folder.path().join(name)
}

fn mode(file: &Path) -> u32 {
    fs::metadata(file).unwrap().permissions().mode() & 0o777
}

fn rows(answer: &Value, table: &str) -> u64 {
    let tables = answer["tables"].as_array().unwrap();
    tables.iter().find(|entry| entry["name"] == table).unwrap()["rows"].as_u64().unwrap()
}

/// Returns the names of files in a folder that an unfinished copy left behind.
fn leftovers(folder: &Path) -> Vec<String> {
    let names =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains("unfinished")).collect()
}

#[test]
fn backup_of_a_served_database_is_restored_elsewhere() {
    let place = Installation::sqlite();
    let key = place.key("employees:read,employees:write", &["--admin"]);
    let service = Service::serve(&place);
    let department = |name: String| {
        let made = service.client(&key.secret).post("/v1/departments", &json!({"name": name})).unwrap();
        assert_eq!(made.status, 201);
    };
    department("Before".to_owned());
    let made = candor(&place, &["backup", "copy.db", "--json"]).json();
    let copy = path(&place, "copy.db");
    assert_eq!((mode(&copy), made["file"].as_str()), (0o600, copy.to_str()));
    assert_eq!((rows(&made, "departments"), rows(&made, "organizations")), (1, 2), "live and test data set");
    assert_eq!(made["bytes"], fs::metadata(&copy).unwrap().len());
    assert_eq!(made["master_key"], "fits");
    let fingerprint = made["sealed_by"][0]["fingerprint"].as_str().unwrap();
    department("After".to_owned());
    service.stop();

    let elsewhere = Installation::sqlite();
    let restored = candor(&elsewhere, &["restore", copy.to_str().unwrap(), "--json"]).json();
    assert_eq!((rows(&restored, "departments"), &restored["master_key"]), (1, &json!("missing")));
    assert_eq!(restored["sealed_by"][0]["fingerprint"], fingerprint);
    let (database, ring) = (path(&elsewhere, "data/candor.db"), path(&elsewhere, "data/master.key"));
    assert_eq!((mode(&database), mode(&path(&elsewhere, "data"))), (0o600, 0o700));
    assert_eq!(candor(&elsewhere, &["serve"]).code, Some(1), "without the master key");
    fs::copy(path(&place, "data/master.key"), &ring).unwrap();
    let service = Service::serve(&elsewhere);
    let listed = service.client(&key.secret).get("/v1/departments").unwrap().json();
    let names: Vec<_> = listed["data"].as_array().unwrap().iter().map(|entry| entry["name"].clone()).collect();
    assert_eq!(names, [json!("Before")]);
    service.stop();
    assert!(leftovers(place.folder.path()).is_empty() && leftovers(database.parent().unwrap()).is_empty());
}

#[test]
fn backups_during_writes_pass_the_check() {
    let place = Installation::sqlite();
    let key = place.key("employees:read,employees:write", &["--admin"]);
    let service = Service::serve(&place);
    let done = AtomicBool::new(false);
    let counted = thread::scope(|scope| {
        scope.spawn(|| {
            let mut client = service.client(&key.secret);
            for number in 0.. {
                let made = client.post("/v1/departments", &json!({"name": format!("No. {number}")})).unwrap();
                assert_eq!(made.status, 201);
                if done.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let backup = |name: &str| rows(&candor(&place, &["backup", name, "--json"]).json(), "departments");
        let counted = ["1.db", "2.db", "3.db"].map(backup);
        done.store(true, Ordering::Relaxed);
        counted
    });
    assert!(counted.is_sorted(), "{counted:?}");
    service.stop();
}

#[test]
fn backup_never_replaces_a_file() {
    let place = Installation::sqlite();
    place.key("*", &[]);
    fs::write(path(&place, "precious"), "text").unwrap();
    for name in ["precious", "data/candor.db"] {
        let refused = candor(&place, &["backup", name]);
        assert_eq!((refused.code, refused.stderr.lines().count()), (Some(1), 1), "{}", refused.stderr);
        assert!(refused.stderr.contains("never replaces a file"), "{}", refused.stderr);
    }
    assert_eq!(fs::read_to_string(path(&place, "precious")).unwrap(), "text");
    let nowhere = candor(&place, &["backup", "no/such/folder/copy.db"]);
    assert_eq!(nowhere.code, Some(1), "{}", nowhere.stderr);
    assert!(candor(&Installation::sqlite(), &["backup", "copy.db"]).stderr.contains("there is no database"));
}

#[test]
fn restore_never_replaces_a_database() {
    let place = Installation::sqlite();
    place.key("*", &[]);
    candor(&place, &["backup", "copy.db"]).succeeded();
    let before = fs::read(path(&place, "data/candor.db")).unwrap();
    let refused = candor(&place, &["restore", "copy.db"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("data/candor.db exists; stop the service"), "{}", refused.stderr);
    assert_eq!(fs::read(path(&place, "data/candor.db")).unwrap(), before);
    // SQLite would apply a leftover log of another database to the restored one.
    fs::rename(path(&place, "data/candor.db"), path(&place, "old.db")).unwrap();
    fs::write(path(&place, "data/candor.db-wal"), "left over").unwrap();
    let refused = candor(&place, &["restore", "copy.db"]);
    assert!(refused.stderr.contains("candor.db-wal exists"), "{}", refused.stderr);
    fs::remove_file(path(&place, "data/candor.db-wal")).unwrap();
    let restored = candor(&place, &["restore", "copy.db"]).succeeded();
    let steps =
        ["The master key fits.", "`candor erasure apply LEDGER`", "Then start the service: `candor serve`."];
    let places =
        steps.map(|step| restored.stdout.find(step).unwrap_or_else(|| panic!("{step}: {}", restored.stdout)));
    assert!(places.is_sorted(), "{}", restored.stdout);
}

#[test]
fn restore_is_a_warning_until_a_ledger_is_applied() {
    let place = Installation::sqlite();
    place.key("*", &[]);
    candor(&place, &["backup", "copy.db"]).succeeded();
    fs::write(path(&place, "ledger"), candor(&place, &["erasure", "ledger"]).succeeded().stdout).unwrap();
    for file in ["data/candor.db", "data/candor.db-wal", "data/candor.db-shm"] {
        let _ = fs::remove_file(path(&place, file));
    }
    candor(&place, &["restore", "copy.db"]).succeeded();
    let warned = candor(&place, &["doctor"]).stdout;
    assert!(
        warned.contains("no ledger of erasures has been applied since") && warned.contains("1 warning."),
        "{warned}"
    );
    let applied = candor(&place, &["erasure", "apply", "ledger"]).succeeded();
    assert!(applied.stdout.contains("Start the service: `candor serve`."), "{}", applied.stdout);
    assert!(!candor(&place, &["doctor"]).stdout.contains("no ledger of erasures"));
}

#[test]
fn restore_refuses_files_that_do_not_pass_the_check() {
    let place = Installation::sqlite();
    place.key("*", &[]);
    candor(&place, &["backup", "copy.db"]).succeeded();
    let mut damaged = fs::read(path(&place, "copy.db")).unwrap();
    let half = damaged.len() / 2;
    damaged.truncate(half);
    fs::write(path(&place, "truncated.db"), damaged).unwrap();
    fs::write(path(&place, "text.db"), "no database").unwrap();
    fs::write(path(&place, "empty.db"), "").unwrap();
    fs::copy(path(&place, "copy.db"), path(&place, "live.db")).unwrap();
    fs::write(path(&place, "live.db-wal"), "changes").unwrap();
    let elsewhere = Installation::sqlite();
    for name in ["truncated.db", "text.db", "empty.db", "live.db", "missing.db"] {
        let refused = candor(&elsewhere, &["restore", path(&place, name).to_str().unwrap()]);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{name}: {}", refused.stderr);
        assert!(refused.stderr.contains(name), "{}", refused.stderr);
        let data = path(&elsewhere, "data");
        assert!(!data.join("candor.db").exists(), "{name}");
        assert!(!data.exists() || leftovers(&data).is_empty(), "{name}");
    }
}

#[test]
fn backup_and_restore_on_postgres_name_its_own_tools() {
    let ring = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let place = Installation::sqlite()
        .with("CANDOR_DATABASE_URL", "postgres://candor:secret@127.0.0.1:9/candor")
        .with("CANDOR_MASTER_KEY", ring);
    for (command, tool) in [("backup", "pg_dump"), ("restore", "pg_restore")] {
        let refused = candor(&place, &[command, "copy.db"]);
        assert_eq!(refused.code, Some(1), "{}", refused.stderr);
        assert!(refused.stderr.contains(tool) && !refused.stderr.contains("secret"), "{}", refused.stderr);
    }
}

#[test]
fn restored_master_key_with_an_open_mode_is_noticed() {
    let place = Installation::sqlite();
    place.key("*", &[]);
    candor(&place, &["backup", "copy.db"]).succeeded();
    let ring = path(&place, "data/master.key");
    fs::set_permissions(&ring, Permissions::from_mode(0o644)).unwrap();
    fs::remove_file(path(&place, "data/candor.db")).unwrap();
    let restored = candor(&place, &["restore", "copy.db"]).succeeded().stdout;
    assert!(restored.contains("chmod 600"), "{restored}");
    let service = Service::serve(&place);
    service.wait_for_line("chmod 600");
    service.stop();
}
