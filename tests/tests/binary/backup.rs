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

fn rows(response: &Value, table: &str) -> u64 {
    let tables = response["tables"].as_array().unwrap();
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
        let creation = service.client(&key.secret).post("/v1/departments", &json!({"name": name})).unwrap();
        assert_eq!(creation.status, 201);
    };
    department("Before".to_owned());
    let backup_json = candor(&place, &["backup", "copy.db", "--json"]).json();
    let copy = path(&place, "copy.db");
    assert_eq!((mode(&copy), backup_json["file"].as_str()), (0o600, copy.to_str()));
    assert_eq!(
        (rows(&backup_json, "departments"), rows(&backup_json, "organizations")),
        (1, 2),
        "live and test data set"
    );
    assert_eq!(backup_json["bytes"], fs::metadata(&copy).unwrap().len());
    assert_eq!(backup_json["master_key"], "fits");
    let fingerprint = backup_json["sealed_by"][0]["fingerprint"].as_str().unwrap();
    department("After".to_owned());
    service.stop();

    let elsewhere = Installation::sqlite();
    let restore_json = candor(&elsewhere, &["restore", copy.to_str().unwrap(), "--json"]).json();
    assert_eq!((rows(&restore_json, "departments"), &restore_json["master_key"]), (1, &json!("missing")));
    assert_eq!(restore_json["sealed_by"][0]["fingerprint"], fingerprint);
    let (database, ring) = (path(&elsewhere, "data/candor.db"), path(&elsewhere, "data/master.key"));
    assert_eq!((mode(&database), mode(&path(&elsewhere, "data"))), (0o600, 0o700));
    assert_eq!(candor(&elsewhere, &["serve"]).code, Some(1), "without the master key");
    fs::copy(path(&place, "data/master.key"), &ring).unwrap();
    let service = Service::serve(&elsewhere);
    let departments = service.client(&key.secret).get("/v1/departments").unwrap().json();
    let names: Vec<_> =
        departments["data"].as_array().unwrap().iter().map(|entry| entry["name"].clone()).collect();
    assert_eq!(names, [json!("Before")]);
    service.stop();
    assert!(leftovers(place.folder.path()).is_empty() && leftovers(database.parent().unwrap()).is_empty());
}

#[test]
fn backups_during_writes_pass_the_check() {
    let place = Installation::sqlite();
    let key = place.key("employees:read,employees:write", &["--admin"]);
    let service = Service::serve(&place);
    let is_done = AtomicBool::new(false);
    let counts = thread::scope(|scope| {
        scope.spawn(|| {
            let mut client = service.client(&key.secret);
            for number in 0.. {
                let creation = client.post("/v1/departments", &json!({"name": format!("No. {number}")})).unwrap();
                assert_eq!(creation.status, 201);
                if is_done.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let backup = |name: &str| rows(&candor(&place, &["backup", name, "--json"]).json(), "departments");
        let backup_counts = ["1.db", "2.db", "3.db"].map(backup);
        is_done.store(true, Ordering::Relaxed);
        backup_counts
    });
    assert!(counts.is_sorted(), "{counts:?}");
    service.stop();
}

#[test]
fn backup_never_replaces_a_file() {
    let place = Installation::sqlite();
    place.key("*", &[]);
    fs::write(path(&place, "precious"), "text").unwrap();
    for name in ["precious", "data/candor.db"] {
        let refusal = candor(&place, &["backup", name]);
        assert_eq!((refusal.code, refusal.stderr.lines().count()), (Some(1), 1), "{}", refusal.stderr);
        assert!(refusal.stderr.contains("never replaces a file"), "{}", refusal.stderr);
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
    let bytes_before = fs::read(path(&place, "data/candor.db")).unwrap();
    let refusal = candor(&place, &["restore", "copy.db"]);
    assert_eq!(refusal.code, Some(1), "{}", refusal.stderr);
    assert!(refusal.stderr.contains("data/candor.db exists; stop the service"), "{}", refusal.stderr);
    assert_eq!(fs::read(path(&place, "data/candor.db")).unwrap(), bytes_before);
    // SQLite would apply a leftover log of another database to the restored one.
    fs::rename(path(&place, "data/candor.db"), path(&place, "old.db")).unwrap();
    fs::write(path(&place, "data/candor.db-wal"), "left over").unwrap();
    let refusal_of_wal = candor(&place, &["restore", "copy.db"]);
    assert!(refusal_of_wal.stderr.contains("candor.db-wal exists"), "{}", refusal_of_wal.stderr);
    fs::remove_file(path(&place, "data/candor.db-wal")).unwrap();
    let restore_run = candor(&place, &["restore", "copy.db"]).succeeded();
    let steps =
        ["The master key fits.", "`candor erasure apply LEDGER`", "Then start the service: `candor serve`."];
    let places = steps
        .map(|step| restore_run.stdout.find(step).unwrap_or_else(|| panic!("{step}: {}", restore_run.stdout)));
    assert!(places.is_sorted(), "{}", restore_run.stdout);
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
    let doctor_output = candor(&place, &["doctor"]).stdout;
    assert!(
        doctor_output.contains("no ledger of erasures has been applied since")
            && doctor_output.contains("1 warning."),
        "{doctor_output}"
    );
    let apply_run = candor(&place, &["erasure", "apply", "ledger"]).succeeded();
    assert!(apply_run.stdout.contains("Start the service: `candor serve`."), "{}", apply_run.stdout);
    assert!(!candor(&place, &["doctor"]).stdout.contains("no ledger of erasures"));
}

#[test]
fn key_revoked_after_the_backup_is_revoked_again() {
    let place = Installation::sqlite();
    let (kept_key, revoked_key) = (place.key("*", &["--admin"]), place.key("*", &[]));
    candor(&place, &["backup", "copy.db"]).succeeded();
    candor(&place, &["key", "revoke", &revoked_key.id]).succeeded();
    fs::write(path(&place, "ledger"), candor(&place, &["erasure", "ledger"]).succeeded().stdout).unwrap();
    for file in ["data/candor.db", "data/candor.db-wal", "data/candor.db-shm"] {
        let _ = fs::remove_file(path(&place, file));
    }
    let restore_run = candor(&place, &["restore", "copy.db"]).succeeded();
    assert!(restore_run.stdout.contains("since the backup work again"), "{}", restore_run.stdout);
    let difference = "1 API keys that the ledger names are not revoked";
    let doctor_output = candor(&place, &["doctor", "--ledger", "ledger"]).stdout;
    assert!(doctor_output.contains(difference), "{doctor_output}");
    for revoked_again in [json!([revoked_key.id]), json!([])] {
        let outcome = candor(&place, &["erasure", "apply", "ledger", "--json"]).succeeded().object();
        assert_eq!(outcome["revoked_keys"], revoked_again, "{outcome}");
    }
    let service = Service::serve(&place);
    let status = |key: &str| service.client(key).get("/v1/me").unwrap().status;
    assert_eq!([status(&kept_key.secret), status(&revoked_key.secret)], [200, 401]);
    service.stop();
}

#[test]
fn restore_refuses_files_that_do_not_pass_the_check() {
    let place = Installation::sqlite();
    place.key("*", &[]);
    candor(&place, &["backup", "copy.db"]).succeeded();
    let mut damaged_bytes = fs::read(path(&place, "copy.db")).unwrap();
    let half = damaged_bytes.len() / 2;
    damaged_bytes.truncate(half);
    fs::write(path(&place, "truncated.db"), damaged_bytes).unwrap();
    fs::write(path(&place, "text.db"), "no database").unwrap();
    fs::write(path(&place, "empty.db"), "").unwrap();
    fs::copy(path(&place, "copy.db"), path(&place, "live.db")).unwrap();
    fs::write(path(&place, "live.db-wal"), "changes").unwrap();
    let elsewhere = Installation::sqlite();
    for name in ["truncated.db", "text.db", "empty.db", "live.db", "missing.db"] {
        let refusal = candor(&elsewhere, &["restore", path(&place, name).to_str().unwrap()]);
        assert_eq!((refusal.code, refusal.stdout.as_str()), (Some(1), ""), "{name}: {}", refusal.stderr);
        assert!(refusal.stderr.contains(name), "{}", refusal.stderr);
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
        let refusal = candor(&place, &[command, "copy.db"]);
        assert_eq!(refusal.code, Some(1), "{}", refusal.stderr);
        assert!(refusal.stderr.contains(tool) && !refusal.stderr.contains("secret"), "{}", refusal.stderr);
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
    let restore_output = candor(&place, &["restore", "copy.db"]).succeeded().stdout;
    assert!(restore_output.contains("chmod 600"), "{restore_output}");
    let service = Service::serve(&place);
    service.wait_for_line("chmod 600");
    service.stop();
}
