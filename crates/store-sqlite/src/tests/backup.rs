//! Backups of a database.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use candor_port_storage::{Row, Storage, StorageError, Write};
use candor_store_testkit::Fixtures;

use crate::connection::open::{DatabaseLocation, Source};
use crate::sql::Sql;
use crate::{
    SqliteOptions, SqliteStore, check_backup, migrate, newest_migration, rewrite, unknown_migrations, write_backup,
};

fn rows(tables: &[(String, u64)], name: &str) -> Option<u64> {
    tables.iter().find(|(table, _)| table == name).map(|(_, rows)| *rows)
}

#[tokio::test]
async fn backup_beside_an_open_store_holds_committed_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (database, file) = (folder.path().join("a.db"), folder.path().join("copy ?#%.db"));
    let (store, make) = (SqliteStore::open(&SqliteOptions::file(&database)).unwrap(), Fixtures::new(1));
    let tenant = make.tenant();
    let save = async |count: usize| {
        for _ in 0..count {
            let write = Write::employee(&Row::new(make.employee()), None);
            store.commit(tenant, make.change(vec![write])).await.unwrap();
        }
    };
    save(3).await;
    write_backup(&database, &file).unwrap();
    save(2).await;
    let contents = check_backup(&file).unwrap();
    assert_eq!(rows(&contents.tables, "employees"), Some(3));
    assert_eq!((contents.pending, contents.unknown), (vec![], vec![]));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(contents.bytes, fs::metadata(&file).unwrap().len());
    assert!(write_backup(&database, &file).is_err(), "the file exists");
    assert_eq!(rows(&check_backup(&file).unwrap().tables, "employees"), Some(3));
}

#[test]
fn backup_check_finds_damage_and_foreign_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let check_error = |name: &str, statements: &str| {
        let file = folder.path().join(name);
        let mut db = Source::new(&DatabaseLocation::File(file.clone())).unwrap().writer().unwrap();
        crate::migrate::apply(&mut db).unwrap();
        db.batch("PRAGMA journal_mode = delete; PRAGMA foreign_keys = off;").unwrap();
        db.batch(statements).unwrap();
        drop(db);
        check_backup(&file)
    };
    for (name, statements, reason) in [
        ("other.db", "DROP TABLE organizations;", "no database of Candor"),
        ("partial.db", "CREATE TABLE copy_progress (name TEXT, value TEXT);", "not complete"),
        (
            "references.db",
            "INSERT INTO observation_attributes VALUES (zeroblob(17), zeroblob(16), zeroblob(16));",
            "refers to a missing row",
        ),
    ] {
        let Err(StorageError::Failed(said)) = check_error(name, statements) else { panic!("{name} passed") };
        assert!(said.contains(reason), "{said}");
    }
    let later_migration = "INSERT INTO __diesel_schema_migrations (version) VALUES ('9999');";
    assert_eq!(check_error("later.db", later_migration).unwrap().unknown, ["9999"]);
    let older = "DELETE FROM __diesel_schema_migrations \
        WHERE version = (SELECT max(version) FROM __diesel_schema_migrations);";
    assert_eq!(check_error("older.db", older).unwrap().pending.len(), 1);
}

#[test]
fn migration_of_a_newer_program_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let place = DatabaseLocation::File(folder.path().join("a.db"));
    assert_eq!(unknown_migrations(&place).unwrap(), [""; 0], "no database");
    let migration_report = migrate(&place).unwrap();
    assert_eq!(unknown_migrations(&place).unwrap(), [""; 0]);
    assert!(migration_report.last().unwrap().starts_with(&newest_migration().unwrap()));
    let newer = "INSERT INTO __diesel_schema_migrations (version) VALUES ('9999')";
    Source::new(&place).unwrap().writer().unwrap().execute(&Sql::new(newer)).unwrap();
    assert_eq!(unknown_migrations(&place).unwrap(), ["9999"]);
}

#[test]
fn rewritten_database_has_its_rows_and_no_deleted_ones() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("it's a.db");
    let mut db = Source::new(&DatabaseLocation::File(database.clone())).unwrap().writer().unwrap();
    crate::migrate::apply(&mut db).unwrap();
    // Without `secure_delete`, the deleted row stays in the file, like a copy that SQLite leaves behind when it
    // moves a row to another page.
    db.batch("PRAGMA secure_delete = off; CREATE TABLE secrets (text TEXT);").unwrap();
    for text in ["unmistakable", "remaining"] {
        db.execute(&Sql::new("INSERT INTO secrets VALUES (?)").bind(text)).unwrap();
    }
    db.batch("DELETE FROM secrets WHERE text = 'unmistakable'; PRAGMA wal_checkpoint(TRUNCATE);").unwrap();
    let has = |text: &str| {
        let files = fs::read_dir(folder.path()).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap());
        files.into_iter().any(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
    };
    assert!(has("unmistakable") && has("remaining"), "the deleted text is still in the file");
    rewrite(&database).unwrap();
    assert!(!has("unmistakable") && has("remaining"));
    let remaining_texts =
        db.rows(Sql::new("SELECT text FROM secrets"), |row| row.text().map_err(StorageError::Failed)).unwrap();
    assert_eq!(remaining_texts, [Some("remaining".to_owned())]);
}

#[test]
fn backup_leaves_out_deleted_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (database, file) = (folder.path().join("a.db"), folder.path().join("copy.db"));
    let mut db = Source::new(&DatabaseLocation::File(database.clone())).unwrap().writer().unwrap();
    crate::migrate::apply(&mut db).unwrap();
    db.batch("PRAGMA secure_delete = off; CREATE TABLE secrets (text TEXT);").unwrap();
    db.execute(&Sql::new("INSERT INTO secrets VALUES (?)").bind("unmistakable")).unwrap();
    db.batch("DELETE FROM secrets;").unwrap();
    write_backup(&database, &file).unwrap();
    let has_deleted_text = fs::read(&file).unwrap().windows(12).any(|bytes| bytes == b"unmistakable");
    assert!(!has_deleted_text, "the backup contains free space of the database");
}
