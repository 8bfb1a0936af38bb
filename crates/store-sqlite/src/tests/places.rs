//! Files, the write-ahead log, and databases in memory.

use std::os::unix::fs::PermissionsExt;

use candor_domain::event::{EventType, FeedFilter, FeedStart};
use candor_domain::page::{Key, Position};
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_port_storage::store::{Expiry, History};
use candor_port_storage::{ChangeSet, Row, Storage, StorageExt, Write};
use candor_store_testkit::Fixtures;

use super::{image, in_memory};
use crate::connection::checkpoint::{Gate, checkpoint};
use crate::connection::open::{DatabaseLocation, Source};
use crate::sql::Sql;
use crate::{SqliteOptions, SqliteStore, is_empty, master_keys, migrate};

#[tokio::test]
async fn databases_in_memory_are_independent() {
    let content = std::fs::read(image()).unwrap();
    let (one, other, make) = (in_memory(), in_memory(), Fixtures::new(1));
    let (tenant, person) = (make.tenant(), make.employee());
    one.commit(tenant, make.change(vec![Write::employee(&Row::new(person.clone()), None)])).await.unwrap();
    assert!(one.row::<Employee>(tenant, person.id).await.unwrap().is_some());
    assert_eq!(other.row::<Employee>(tenant, person.id).await.unwrap(), None);
    assert!(std::fs::read(image()).unwrap() == content, "the copied file is as before");
}

#[tokio::test]
async fn closed_store_is_one_file() {
    let folder = tempfile::tempdir().unwrap();
    // The missing folder is created.
    let path = folder.path().join("data").join("candor.db");
    let make = Fixtures::new(2);
    let store = SqliteStore::open(&SqliteOptions::file(&path)).unwrap();
    store
        .commit(make.tenant(), make.change(vec![Write::employee(&Row::new(make.employee()), None)]))
        .await
        .unwrap();
    drop(store);
    let names: Vec<_> =
        std::fs::read_dir(folder.path().join("data")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["candor.db"]);
}

#[test]
fn database_files_are_accessible_to_their_owner_only() {
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data").join("candor.db");
    let store = SqliteStore::open(&SqliteOptions::file(&path)).unwrap();
    assert_eq!((mode(&folder.path().join("data")), mode(&path)), (0o700, 0o600));
    assert_eq!(mode(&folder.path().join("data").join("candor.db-wal")), 0o600);
    drop(store);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o664)).unwrap();
    let store = SqliteStore::open(&SqliteOptions::file(&path)).unwrap();
    assert_eq!(mode(&path), 0o600);
    drop(store);
}

#[test]
fn stored_master_keys_are_read_under_any_schema() {
    let folder = tempfile::tempdir().unwrap();
    let place = DatabaseLocation::File(folder.path().join("candor.db"));
    assert_eq!((master_keys(&place).unwrap(), is_empty(&place).unwrap()), (vec![], true));
    assert!(!folder.path().join("candor.db").exists(), "a read creates no file");
    let mut db = Source::new(&place).unwrap().writer().unwrap();
    assert_eq!((master_keys(&place).unwrap(), is_empty(&place).unwrap()), (vec![], true), "no table yet");
    migrate::apply(&mut db).unwrap();
    assert_eq!((master_keys(&place).unwrap(), is_empty(&place).unwrap()), (vec![], true));
    let row = "INSERT INTO organizations (tenant_id, id, name, objective_review, summary_review, created_at, \
               updated_at, version) VALUES (x'00', x'01', 'Acme', 'optional', 'optional', 0, 0, 1)";
    db.batch(row).unwrap();
    assert!(!is_empty(&place).unwrap());
}

#[test]
fn write_ahead_log_restarts_after_a_complete_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let log = || std::fs::metadata(folder.path().join("candor.db-wal")).unwrap().len();
    let source = Source::new(&DatabaseLocation::File(folder.path().join("candor.db"))).unwrap();
    let (mut writer, mut reader) = (source.writer().unwrap(), source.reader().unwrap());
    let mut other = source.checkpointer().unwrap();
    writer.batch("CREATE TABLE filler (bytes BLOB) STRICT").unwrap();
    let mut fill = || {
        writer.execute(&Sql::new("INSERT INTO filler VALUES (zeroblob(1000000))")).unwrap();
        log()
    };
    let first = fill();
    reader.batch("BEGIN; SELECT count(*) FROM filler").unwrap();
    let second = fill();
    checkpoint(&mut other, i64::MAX, &Gate::default()).unwrap();
    let third = fill();
    assert!(first < second && second < third, "pages that a reader may need are not overwritten");
    reader.batch("COMMIT").unwrap();
    checkpoint(&mut other, 0, &Gate::default()).unwrap();
    assert_eq!(fill(), third, "the log is written from its start");
}

#[tokio::test]
async fn feed_position_is_never_reused() {
    let (store, make) = (in_memory(), Fixtures::new(3));
    let tenant = make.tenant();
    let change = || {
        let events = vec![make.event(EventType::EmployeeCreated), make.event(EventType::EmployeeUpdated)];
        ChangeSet { events, ..ChangeSet::new(make.audit("test.change", "none")) }
    };
    let always = Timestamp::from_millis(0);
    store.commit(tenant, change()).await.unwrap();
    let page_before = store.feed(tenant, &FeedFilter::default(), always, &FeedStart::Oldest, 10).await.unwrap();
    assert_eq!(store.sweep(Expiry { events: make.tick(), ..Expiry::NOTHING }, 100).await.unwrap(), 2);
    store.commit(tenant, change()).await.unwrap();
    let page_after =
        store.feed(tenant, &FeedFilter::default(), always, &page_before.next.clone().into(), 10).await.unwrap();
    assert_eq!(page_after.events.len(), 2);
    let rank = |position: Option<Position>| {
        let Some(Position { key: Key::Rank(rank), .. }) = position else { panic!("{position:?}") };
        rank
    };
    assert_eq!((rank(page_before.next), rank(page_after.next)), (2, 4));
}
