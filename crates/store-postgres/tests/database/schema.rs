//! The schema: migrations go up and down, and both stores have the same schema.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use candor_domain::erasure::texts::{columns_without_statistics, text_columns};
use candor_port_storage::upkeep::Upkeep;
use candor_store_postgres::{PostgresOptions, migrate, pending, revert, unknown_migrations};
use candor_tables::copy;
use candor_tables::flat::Type;
use candor_tables::schema::TABLES;
use candor_test_postgres::TestDatabase;

use crate::support;

#[tokio::test(flavor = "multi_thread")]
async fn migrations_are_reversible_and_repeatable() {
    let Some(database) = TestDatabase::empty().unwrap() else { return };
    let options = PostgresOptions::new(database.url(), 3);
    let all = pending(&options).await.unwrap();
    assert!(!all.is_empty());
    for _ in 0..2 {
        assert_eq!(migrate(&options).await.unwrap(), all);
        assert_eq!(pending(&options).await.unwrap(), [""; 0]);
        assert_eq!(migrate(&options).await.unwrap(), [""; 0]);
        assert_eq!(revert(&options).await.unwrap().len(), all.len());
        assert_eq!(pending(&options).await.unwrap(), all);
    }
    let remaining_query = "SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = 'public'::regnamespace \
                AND relname NOT LIKE '\\_\\_diesel%'";
    let remaining_row = support::client(database.url()).await.query_one(remaining_query, &[]).await.unwrap();
    assert_eq!(remaining_row.get::<_, Option<String>>(0), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn migration_of_a_newer_program_is_unknown() {
    let Some(database) = TestDatabase::empty().unwrap() else { return };
    let options = PostgresOptions::new(database.url(), 3);
    assert_eq!(unknown_migrations(&options).await.unwrap(), [""; 0], "an empty database");
    migrate(&options).await.unwrap();
    assert_eq!(unknown_migrations(&options).await.unwrap(), [""; 0]);
    let newer = "INSERT INTO __diesel_schema_migrations (version) VALUES ('9999')";
    support::client(database.url()).await.batch_execute(newer).await.unwrap();
    assert_eq!(unknown_migrations(&options).await.unwrap(), ["9999"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_migrations_wait_for_each_other() {
    let Some(database) = TestDatabase::empty().unwrap() else { return };
    let options = PostgresOptions::new(database.url(), 3);
    let all = pending(&options).await.unwrap();
    let (one, two) = tokio::join!(migrate(&options), migrate(&options));
    let mut applied_counts = [one.unwrap(), two.unwrap()];
    applied_counts.sort();
    assert_eq!(applied_counts, [vec![], all]);
}

#[tokio::test(flavor = "multi_thread")]
async fn migrated_schema_equals_the_compared_schema() {
    let Some(database) = support::database() else { return };
    let columns = "SELECT c.table_name, c.column_name, c.is_nullable = 'YES' FROM information_schema.columns AS c \
                   JOIN pg_class AS t ON t.relname = c.table_name AND t.relnamespace = 'public'::regnamespace \
                   WHERE c.table_schema = 'public' AND c.table_name NOT LIKE '\\_\\_diesel%' \
                   AND NOT t.relispartition ORDER BY c.table_name, c.column_name COLLATE \"C\"";
    let mut columns_by_table: BTreeMap<String, Vec<(String, bool)>> = BTreeMap::new();
    let client = support::client(database.url()).await;
    for row in client.query(columns, &[]).await.unwrap() {
        columns_by_table.entry(row.get(0)).or_default().push((row.get(1), row.get(2)));
    }
    let read = Schema::new("postgres").tables.into_iter();
    let read: BTreeMap<_, Vec<_>> = read
        .map(|(name, table)| {
            (name, table.columns.into_iter().map(|column| (column.name, column.nullable)).collect())
        })
        .collect();
    assert_eq!(columns_by_table, read);
    assert_eq!(support::store(&database, None).await.master_keys().await.unwrap(), []);
}

/// Returns the SQL type of a column type.
fn sql_type(kind: Type) -> &'static str {
    match kind {
        Type::Id => "uuid",
        Type::Text => "text",
        Type::Int => "bigint",
        Type::Flag => "boolean",
        Type::Time => "timestamp with time zone",
        Type::Date => "date",
        Type::Ids => "ARRAY",
        Type::Bytes => "bytea",
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn declared_columns_have_name_type_and_nullability() {
    let Some(database) = support::database() else { return };
    let client = support::client(database.url()).await;
    let tables = "SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace \
                  AND relkind IN ('r', 'p') AND NOT relispartition AND relname NOT LIKE '\\_\\_diesel%'";
    let table_names: BTreeSet<String> =
        client.query(tables, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert_eq!(table_names, TABLES.iter().map(|table| table.name.to_owned()).collect());
    let columns = "SELECT column_name::text, data_type::text, is_nullable = 'YES' FROM information_schema.columns \
                   WHERE table_schema = 'public' \
                   AND table_name = $1 AND is_generated = 'NEVER'";
    for table in copy::tables() {
        let column_rows = client.query(columns, &[&table.name]).await.unwrap();
        let stored_columns: BTreeSet<(String, String, bool)> =
            column_rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
        let declared_columns = table.columns.iter();
        let column_descriptions = declared_columns
            .map(|column| (column.name.to_owned(), sql_type(column.kind).to_owned(), column.is_nullable));
        assert_eq!(stored_columns, column_descriptions.collect(), "{}", table.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn text_column_has_its_effect_of_an_erasure() {
    let Some(database) = support::database() else { return };
    let client = support::client(database.url()).await;
    let columns = "SELECT table_name::text, column_name::text FROM information_schema.columns \
                   WHERE table_schema = 'public' AND data_type IN ('text', 'bytea') \
                   AND table_name NOT LIKE '\\_\\_diesel%' AND table_name NOT IN (SELECT relname FROM pg_class \
                   WHERE relispartition)";
    let column_rows = client.query(columns, &[]).await.unwrap();
    let text_columns_of_schema: BTreeSet<(String, String)> =
        column_rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let listed_columns = text_columns().map(|(table, column)| (table.to_owned(), column.to_owned())).collect();
    assert_eq!(
        text_columns_of_schema, listed_columns,
        "candor_domain::erasure::texts lists exactly these columns"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn personal_or_random_column_has_no_statistics() {
    let Some(database) = support::database() else { return };
    let client = support::client(database.url()).await;
    // An index on an expression has columns of its own, which ANALYZE samples too.
    let statistics_query = "SELECT c.relname::text, a.attname::text FROM pg_attribute AS a JOIN pg_class AS c \
                   ON c.oid = a.attrelid LEFT JOIN pg_index AS i ON i.indexrelid = c.oid \
                   WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped \
                   AND (c.relkind IN ('r', 'p', 'm') OR i.indkey[a.attnum - 1] = 0) \
                   AND COALESCE(a.attstattarget, -1) <> 0";
    let statistics_rows = client.query(statistics_query, &[]).await.unwrap();
    let sampled_columns: BTreeSet<(String, String)> =
        statistics_rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert!(sampled_columns.contains(&("employees".to_owned(), "status".to_owned())));
    for (table, column) in columns_without_statistics() {
        let pair = (table.to_owned(), column.to_owned());
        assert!(!sampled_columns.contains(&pair), "SET STATISTICS 0 for {pair:?} in a migration");
    }
    // A text that is unique in its organization is random, or names one person or thing.
    let unique_texts = "SELECT i.indrelid::regclass::text, max(a.attname::text) FROM pg_index AS i JOIN pg_attribute AS a \
                 ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey) AND a.attname <> 'tenant_id' \
                 JOIN pg_class AS c ON c.oid = i.indrelid WHERE i.indisunique AND NOT c.relispartition \
                 AND c.relnamespace = 'public'::regnamespace AND c.relname NOT LIKE '\\_\\_diesel%' \
                 GROUP BY i.indexrelid, i.indrelid \
                 HAVING bool_and(a.atttypid IN ('text'::regtype, 'bytea'::regtype)) AND count(*) = 1";
    let unique_rows = client.query(unique_texts, &[]).await.unwrap();
    let mut unique_columns: BTreeSet<(String, String)> =
        unique_rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert!(unique_columns.contains(&("replays".to_owned(), "key".to_owned())));
    // Each organization has the same few words.
    unique_columns.remove(&("search_backlog".to_owned(), "table_name".to_owned()));
    for pair in &unique_columns {
        assert!(
            !sampled_columns.contains(pair),
            "name {pair:?} in candor_domain::erasure::texts, SET STATISTICS 0"
        );
    }
    let extra = "SELECT stxname::text FROM pg_statistic_ext UNION ALL SELECT c.relname::text FROM pg_index AS i \
                 JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_attribute AS a ON a.attrelid = c.oid \
                 WHERE i.indexprs IS NOT NULL AND i.indkey[a.attnum - 1] = 0 AND COALESCE(a.attstattarget, -1) <> 0 \
                 AND c.relnamespace = 'public'::regnamespace AND a.atttypid IN ('text'::regtype, 'bytea'::regtype)";
    let extra: Vec<String> = client.query(extra, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert_eq!(extra, [""; 0], "statistics of several columns or of expressions may hold texts");
}

#[test]
fn both_stores_have_equal_tables_constraints_and_indexes() {
    let (postgres, sqlite) = (Schema::new("postgres"), Schema::new("sqlite"));
    assert!(postgres.tables.len() > 10);
    for (name, table) in &postgres.tables {
        assert_eq!(Some(table), sqlite.tables.get(name), "{name}");
    }
    assert!(postgres.tables.keys().eq(sqlite.tables.keys()));
    assert_eq!(postgres.indexes, sqlite.indexes);
}

/// A schema in the terms that both databases share.
#[derive(Debug, Default, PartialEq, Eq)]
struct Schema {
    tables: BTreeMap<String, Table>,
    /// Name, table and uniqueness of each index. The columns are compared in `candor-store-sqlite`, `tests/migrations.rs`:
    /// one store may have more of them.
    indexes: Vec<(String, String, bool)>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    columns: Vec<Column>,
    constraints: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Column {
    name: String,
    kind: &'static str,
    nullable: bool,
}

impl Schema {
    /// Reads the schema from a store's migrations.
    fn new(store: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations").join(store);
        let mut migrations: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path().join("up.sql")).collect();
        migrations.sort();
        let mut schema = Self::default();
        for migration in migrations {
            let text = fs::read_to_string(&migration).unwrap();
            let bare: Vec<_> = text.lines().map(|line| line.split("--").next().unwrap()).collect();
            // A block of PL/pgSQL creates nothing.
            let outside_blocks: String = bare.join(" ").split("$$").step_by(2).collect();
            outside_blocks
                .split(';')
                .map(str::trim)
                .filter(|text| !text.is_empty())
                .for_each(|statement| schema.read(statement));
        }
        schema.indexes.sort();
        schema
    }

    fn read(&mut self, statement: &str) {
        let words: Vec<_> = statement.split_whitespace().collect();
        match words[..] {
            // Data migrations do not change the schema.
            ["INSERT" | "UPDATE" | "DELETE" | "WITH" | "SELECT" | "DO", ..] => {}
            // A partition has the columns and constraints of its table.
            ["CREATE", "TABLE", _, "PARTITION", "OF", ..] => {}
            ["CREATE", "TABLE", name, ..] => {
                let (_, body) = statement.split_once('(').unwrap();
                self.tables.insert(name.to_owned(), Table::read(body));
            }
            ["CREATE", "INDEX", name, "ON", table, ..]
            | ["CREATE", "INDEX", "IF", "NOT", "EXISTS", name, "ON", table, ..] => {
                // The default partition may have an index that is on the table itself in the other store.
                let table = table.strip_suffix("_default").unwrap_or(table);
                self.indexes.push((name.to_owned(), table.to_owned(), false));
            }
            ["CREATE", "UNIQUE", "INDEX", name, "ON", table, ..] => {
                self.indexes.push((name.to_owned(), table.to_owned(), true));
            }
            ["DROP", "INDEX", name] => self.indexes.retain(|(known, ..)| known != name),
            ["CREATE", "FUNCTION", ..] => {}
            ["ALTER", "TABLE", name, "ADD", "COLUMN", ..] => {
                let (_, item) = statement.split_once("ADD COLUMN").unwrap();
                let table = self.tables.get_mut(name).unwrap();
                table.columns.extend(Table::read(item).columns);
                table.columns.sort();
            }
            ["ALTER", "TABLE", name, "DROP", "COLUMN", column] => {
                self.tables.get_mut(name).unwrap().columns.retain(|known| known.name != column);
            }
            ["ALTER", "TABLE", _, "SET", ..] => {}
            _ => panic!("this comparison does not understand: {statement}"),
        }
    }
}

impl Table {
    fn read(body: &str) -> Self {
        let mut table = Self::default();
        for item in items(body) {
            let words: Vec<_> = item.split_whitespace().collect();
            if ["PRIMARY", "CONSTRAINT", "UNIQUE", "FOREIGN", "CHECK"].contains(&words[0]) {
                // A SQLite table with an explicit row id declares the PostgreSQL primary key as a unique
                // constraint.
                table.constraints.push(words.join(" ").replacen("PRIMARY KEY (", "UNIQUE (", 1));
            } else {
                // A primary key is never null: SQLite's row id column, which numbers the events, is declared without
                // NOT NULL.
                let nullable = !item.contains("NOT NULL") && !item.contains("PRIMARY KEY");
                table.columns.push(Column { name: words[0].to_owned(), kind: kind(words[1]), nullable });
            }
        }
        table.constraints.sort();
        table.columns.sort();
        table
    }
}

/// Splits the definition between a table's parentheses at the commas outside of inner parentheses.
fn items(body: &str) -> Vec<String> {
    let (mut depth, mut items) = (0, vec![String::new()]);
    for it in body.chars() {
        match it {
            '(' => depth += 1,
            ')' if depth == 0 => break,
            ')' => depth -= 1,
            _ => {}
        }
        if it == ',' && depth == 0 {
            items.push(String::new());
        } else {
            items.last_mut().unwrap().push(it);
        }
    }
    items.iter().map(|item| item.trim().to_owned()).collect()
}

/// Returns the SQLite storage type of a PostgreSQL type.
fn kind(word: &str) -> &'static str {
    match word {
        "uuid" | "uuid[]" | "bytea" | "BLOB" => "BLOB",
        "text" | "TEXT" => "TEXT",
        "bigint" | "boolean" | "date" | "timestamptz" | "INTEGER" => "INTEGER",
        other => panic!("this comparison does not know the type {other}"),
    }
}
