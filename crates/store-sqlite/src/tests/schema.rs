//! Tests of the migrations and of the schema that they create.

use std::collections::BTreeSet;

use diesel_migrations::MigrationHarness;

use candor_domain::erasure::texts::text_columns;
use candor_tables::copy;
use candor_tables::flat::{CellReader, Table, Type};
use candor_tables::rows::JOB_TABLE;
use candor_tables::schema::{Placement, TABLES, tables_with};

use super::database;
use crate::connection::open::{DatabaseLocation, Source};
use crate::migrate::{self, migrate, pending_migrations};
use crate::sql::{Db, Sql};

fn schema(db: &mut Db) -> Vec<String> {
    // Tables of Diesel and SQLite are not part of the schema.
    let text = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' \
        AND name NOT LIKE '__diesel%' ORDER BY name";
    db.rows(Sql::new(text), |row| Ok(row.text().unwrap().unwrap())).unwrap()
}

#[test]
fn migrations_are_reversible_and_repeatable() {
    let mut db = database();
    let schema_before = schema(&mut db);
    assert!(schema_before.len() > 20, "{schema_before:?}");
    db.connection().revert_all_migrations(migrate::MIGRATIONS).unwrap();
    assert_eq!(schema(&mut db), [""; 0]);
    assert!(!migrate::apply(&mut db).unwrap().is_empty());
    assert_eq!(schema(&mut db), schema_before);
}

#[test]
fn pending_migrations_are_listed_without_touching_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("candor.db");
    let place = DatabaseLocation::File(path.clone());
    let all = pending_migrations(&place).unwrap();
    assert_eq!(all.first().map(String::as_str), Some("0001_foundation"));
    assert!(!path.exists());
    assert_eq!(migrate(&place).unwrap(), all);
    assert_eq!(pending_migrations(&place).unwrap(), [""; 0]);
    assert_eq!(migrate(&place).unwrap(), [""; 0]);
}

#[test]
fn foreign_file_is_not_opened_as_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("candor.db");
    std::fs::write(&path, "not a database, but text that is long enough to be looked at").unwrap();
    let error = migrate(&DatabaseLocation::File(path)).unwrap_err().to_string();
    assert!(error.contains("not a database"), "{error}");
}

#[test]
fn text_column_has_its_effect_of_an_erasure() {
    let mut db = database();
    let text = "SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c \
        WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT LIKE '__diesel%' AND c.type = 'TEXT'";
    let pair = |row: &mut dyn CellReader| Ok((row.text().unwrap().unwrap(), row.text().unwrap().unwrap()));
    let schema_columns: BTreeSet<(String, String)> = db.rows(Sql::new(text), pair).unwrap().into_iter().collect();
    let listed_columns: BTreeSet<_> =
        text_columns().map(|(table, column)| (table.to_owned(), column.to_owned())).collect();
    assert!(schema_columns.len() > 50, "{schema_columns:?}");
    let missing: Vec<_> = schema_columns.difference(&listed_columns).collect();
    assert!(missing.is_empty(), "add to candor_domain::erasure::texts: {missing:?}");
}

fn declared_columns(db: &mut Db, table: &str) -> Vec<(String, String)> {
    let sql = Sql::new("SELECT name, type FROM pragma_table_xinfo(?)").bind(table);
    db.rows(sql, |row| Ok((row.text().unwrap().unwrap(), row.text().unwrap().unwrap()))).unwrap()
}

fn stored_as(kind: Type) -> &'static str {
    match kind {
        Type::Id | Type::Ids | Type::Bytes => "BLOB",
        Type::Text => "TEXT",
        Type::Int | Type::Flag | Type::Time | Type::Date => "INTEGER",
    }
}

#[test]
fn declared_columns_have_name_type_and_nullability() {
    let mut db = database();
    let text = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' \
        AND name NOT LIKE '__diesel%' ORDER BY name";
    let table_names: Vec<String> = db.rows(Sql::new(text), |row| Ok(row.text().unwrap().unwrap())).unwrap();
    let mut declared_names: Vec<_> = TABLES.iter().map(|table| table.name).collect();
    declared_names.sort_unstable();
    assert_eq!(table_names, declared_names);
    for table in copy::tables() {
        // Generated columns are excluded: `table_xinfo` marks them as hidden.
        let text = "SELECT name, type, \"notnull\" = 0 AND pk = 0 FROM pragma_table_xinfo(?) WHERE hidden = 0 \
                    ORDER BY name";
        let read = |row: &mut dyn CellReader| {
            Ok((row.text().unwrap().unwrap(), row.text().unwrap().unwrap(), row.flag().unwrap().unwrap()))
        };
        let column_rows = db.rows(Sql::new(text).bind(table.name), read).unwrap();
        let column_forms =
            table.columns.iter().map(|column| (column.name, stored_as(column.kind), column.is_nullable));
        let mut declared_columns: Vec<_> = column_forms.collect();
        declared_columns.sort_unstable();
        let stored_columns: Vec<_> = column_rows
            .iter()
            .map(|(name, kind, is_nullable)| (name.as_str(), kind.as_str(), *is_nullable))
            .collect();
        assert_eq!(stored_columns, declared_columns, "{}", table.name);
        let text = "SELECT name FROM pragma_table_xinfo(?) WHERE pk > 0 ORDER BY pk";
        let key = db.rows(Sql::new(text).bind(table.name), |row| Ok(row.text().unwrap().unwrap())).unwrap();
        // SQLite's primary key of events is the position alone. `take` drops the further columns of the declared
        // key, which order the events with one position on PostgreSQL.
        let key_names: Vec<_> = table.key_columns().map(|column| column.name).take(key.len()).collect();
        assert_eq!(key, key_names, "{}", table.name);
    }
}

fn tables() -> impl Iterator<Item = &'static Table> {
    TABLES.iter().filter_map(|table| table.resource())
}

#[test]
fn tables_have_the_columns_of_their_rows() {
    let mut db = database();
    for table in tables() {
        let mut expected_columns: Vec<_> =
            table.read().chain(table.derived).map(|column| (column.name, stored_as(column.kind))).collect();
        // The queue is read across all tenants, so its rows contain their tenant.
        expected_columns.extend((table.name != JOB_TABLE.name).then_some(("tenant_id", "BLOB")));
        expected_columns.extend(table.versioned.then_some(("version", "INTEGER")));
        expected_columns.extend((table.name == "events").then_some(("position", "INTEGER")));
        // Leases of mails are columns that only the mail queue uses, so the row type lacks them.
        let leases = [("mail_worker", "BLOB"), ("mail_leased_until", "INTEGER")];
        expected_columns.extend(leases.into_iter().filter(|_| table.name == "invitations"));
        expected_columns.sort_unstable();
        let mut column_rows = declared_columns(&mut db, table.name);
        column_rows.sort_unstable();
        let stored_columns: Vec<_> =
            column_rows.iter().map(|(name, kind)| (name.as_str(), kind.as_str())).collect();
        assert_eq!(stored_columns, expected_columns, "{}", table.name);
    }
}

/// Query for the indexes that contain every row of a table.
const WHOLE: &str = "SELECT name FROM pragma_index_list(?) WHERE partial = 0";
/// Query for the partial indexes that contain every row with a value in their column. They can answer an equality
/// condition on that column, or a range of it.
const OF_VALUES: &str = "SELECT l.name FROM pragma_index_list(?) AS l JOIN sqlite_schema AS s ON s.name = l.name \
    WHERE l.partial = 1 AND (s.sql LIKE '% WHERE %_id IS NOT NULL' OR s.sql LIKE '% WHERE left_at IS NOT NULL' \
        OR s.sql LIKE '% WHERE accepted_at IS NOT NULL' OR s.sql LIKE '% WHERE twin IS NOT NULL')";

/// Returns the columns after the tenant, for each selected index that begins with the tenant.
fn indexes(db: &mut Db, which: &'static str, table: &str) -> Vec<Vec<String>> {
    let names = Sql::new(which).bind(table);
    let names = db.rows(names, |row| Ok(row.text().unwrap().unwrap())).unwrap();
    let columns = |name: String| {
        let sql = Sql::new("SELECT name FROM pragma_index_info(?) ORDER BY seqno").bind(name.as_str());
        db.rows(sql, |row| Ok(row.text().unwrap().unwrap_or_default())).unwrap()
    };
    let all: Vec<Vec<String>> = names.into_iter().map(columns).collect();
    all.into_iter()
        .filter_map(|columns| Some(columns.split_first().filter(|(first, _)| *first == "tenant_id")?.1.to_vec()))
        .collect()
}

fn begins(index: &[String], columns: &[&str]) -> bool {
    index.len() >= columns.len() && index.iter().zip(columns).all(|(a, b)| a == b)
}

#[test]
fn declared_and_existing_indexes_are_equal() {
    let mut db = database();
    for table in tables() {
        let stored_indexes = indexes(&mut db, WHOLE, table.name);
        let of_values = indexes(&mut db, OF_VALUES, table.name);
        for declared in table.indexes {
            let is_there = stored_indexes.iter().chain(&of_values).any(|index| begins(index, declared.columns));
            assert!(is_there, "{}: {declared:?}", table.name);
        }
        // The index of the id serves lookups, not lists.
        for it in stored_indexes.iter().filter(|columns| *columns != &["id"]) {
            let is_declared = table.indexes.iter().any(|declared| begins(it, declared.columns));
            assert!(is_declared, "{} has an undeclared index on {it:?}", table.name);
        }
    }
}

#[test]
fn connections_enforce_foreign_keys() {
    let source = Source::new(&DatabaseLocation::Memory).unwrap();
    for mut db in [source.writer().unwrap(), source.reader().unwrap()] {
        assert_eq!(db.number(Sql::new("PRAGMA foreign_keys")).unwrap(), 1);
    }
}

#[test]
fn query_plan_does_not_depend_on_bound_values() {
    let source = Source::new(&DatabaseLocation::Memory).unwrap();
    let mut db = source.writer().unwrap();
    db.batch("CREATE TABLE t (a TEXT COLLATE NOCASE) STRICT; CREATE INDEX t_by_a ON t (a)").unwrap();
    // With a literal, SQLite would look up the prefix of the text in the index.
    let sql = Sql::new("EXPLAIN QUERY PLAN SELECT a FROM t WHERE a LIKE ?").bind("abc%");
    let step = |row: &mut dyn CellReader| {
        let _numbers = (row.int(), row.int(), row.int());
        Ok(row.text().unwrap().unwrap())
    };
    assert_eq!(db.rows(sql, step).unwrap(), ["SCAN t"]);
}

#[test]
fn tables_with_a_tenant_are_placed_with_their_tenant() {
    let mut db = database();
    let text = "SELECT m.name FROM sqlite_schema m JOIN pragma_table_xinfo(m.name) c ON c.name = 'tenant_id' \
        WHERE m.type = 'table' ORDER BY m.name";
    let table_names: Vec<String> = db.rows(Sql::new(text), |row| Ok(row.text().unwrap().unwrap())).unwrap();
    let mut placed_tables: Vec<_> = tables_with(Placement::Tenant).map(|table| table.name).collect();
    // A proof is unique in the installation, so every node has the table.
    placed_tables.push("identity_proofs");
    placed_tables.sort_unstable();
    assert_eq!(table_names, placed_tables);
}

#[test]
fn reset_of_test_data_keeps_settings_keys_and_audit_log() {
    let kept_tables: Vec<_> =
        tables_with(Placement::Tenant).filter(|table| !table.is_test_data).map(|table| table.name).collect();
    let expected_tables = [
        "organizations",
        "api_keys",
        "reporting_trees",
        "erasures",
        "retention_runs",
        "erased_rows",
        "audit_entries",
    ];
    assert_eq!(kept_tables, expected_tables);
}
