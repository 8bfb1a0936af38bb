//! Equality of the SQLite and PostgreSQL schemas.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Schema that the migrations of one store create.
#[derive(Debug, Default)]
struct Schema {
    /// Type in SQLite's terms and nullability, by table and column.
    columns: BTreeMap<(String, String), (&'static str, bool)>,
    /// Pairs of table and constraint.
    constraints: BTreeSet<(String, String)>,
    /// Indexes by their names.
    indexes: BTreeMap<String, Index>,
}

#[derive(Debug, PartialEq)]
struct Index {
    unique: bool,
    table: String,
    columns: Vec<String>,
    /// Condition of a partial index; `None` for a full one.
    rows: Option<String>,
}

fn read(store: &str) -> Schema {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations").join(store);
    let mut migrations: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    migrations.sort();
    let mut schema = Schema::default();
    for migration in migrations {
        let text = std::fs::read_to_string(migration.join("up.sql")).unwrap();
        let lines = text.lines().map(str::trim).filter(|text| !text.starts_with("--"));
        for statement in lines.collect::<Vec<_>>().join(" ").split(';') {
            schema.add(statement.trim());
        }
    }
    schema
}

impl Schema {
    fn add(&mut self, statement: &str) {
        if statement.contains(" PARTITION OF ") {
            // A partition has the columns of its table.
        } else if let Some(rest) = statement.strip_prefix("CREATE TABLE ") {
            let (table, rest) = rest.split_once(" (").unwrap();
            let body = &rest[..rest.rfind(')').unwrap()];
            // The clauses behind the columns may contain brackets.
            let body = [") WITH", ") PARTITION"].iter().fold(body, |text, end| text.split(end).next().unwrap());
            parts(body).into_iter().for_each(|part| self.part(table, part));
        } else if let Some(rest) = statement.strip_prefix("ALTER TABLE ") {
            if let Some((table, column)) = rest.split_once(" ADD COLUMN ") {
                self.part(table, column);
            } else if let Some((table, column)) = rest.split_once(" DROP COLUMN ") {
                self.columns.remove(&(table.to_owned(), column.to_owned()));
            }
        } else if let Some(name) = statement.strip_prefix("DROP INDEX ") {
            self.indexes.remove(name);
        } else if let Some((before, rest)) = statement.split_once("INDEX ") {
            let rest = rest.strip_prefix("IF NOT EXISTS ").unwrap_or(rest);
            let (name, rest) = rest.split_once(" ON ").unwrap();
            let (table, rest) = rest.split_once(" (").unwrap();
            // PostgreSQL has some indexes only on the default partition.
            let table = table.strip_suffix("_default").unwrap_or(table);
            let columns = rest.split(')').next().unwrap().split(',').map(|part| part.trim().to_owned()).collect();
            let rows = rest.split_once(" WHERE ").map(|(_, condition)| condition.to_owned());
            let it = Index { unique: before.contains("UNIQUE"), table: table.to_owned(), columns, rows };
            let former_index = self.indexes.insert(name.to_owned(), it);
            assert_eq!(former_index, None, "index {name} is created twice");
        }
    }

    fn part(&mut self, table: &str, part: &str) {
        if ["CONSTRAINT ", "PRIMARY KEY ", "UNIQUE "].iter().any(|name| part.starts_with(name)) {
            self.constraints.insert((table.to_owned(), part.to_owned()));
            return;
        }
        let (name, rest) = part.split_once(' ').unwrap();
        let kind = match rest.split(' ').next().unwrap() {
            "uuid" | "bytea" | "uuid[]" | "BLOB" => "BLOB",
            "text" | "TEXT" => "TEXT",
            "bigint" | "timestamptz" | "date" | "boolean" | "INTEGER" => "INTEGER",
            other => panic!("{table}.{name} is {other}, which has no counterpart"),
        };
        let nullable = !rest.contains("NOT NULL") && !rest.contains("PRIMARY KEY");
        self.columns.insert((table.to_owned(), name.to_owned()), (kind, nullable));
    }
}

/// Splits at the commas outside of brackets.
fn parts(body: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, vec![]);
    for (at, byte) in body.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(body[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(body[start..].trim());
    parts
}

#[test]
fn both_stores_have_the_same_columns() {
    let (sqlite, postgres) = (read("sqlite"), read("postgres"));
    assert!(sqlite.columns.len() > 50, "{sqlite:?}");
    assert_eq!(sqlite.columns, postgres.columns);
}

#[test]
fn both_stores_have_the_same_constraints() {
    let (mut sqlite, postgres) = (read("sqlite"), read("postgres"));
    // SQLite's primary key of events is the position, so the id is only unique.
    let unique = ("events".to_owned(), "UNIQUE (tenant_id, id)".to_owned());
    assert!(sqlite.constraints.remove(&unique));
    sqlite.constraints.insert((unique.0, "PRIMARY KEY (tenant_id, id)".to_owned()));
    assert!(sqlite.constraints.len() > 20, "{sqlite:?}");
    assert_eq!(sqlite.constraints, postgres.constraints);
}

#[test]
fn both_stores_have_the_same_indexes() {
    let (sqlite, postgres) = (read("sqlite"), read("postgres"));
    assert!(sqlite.indexes.len() > 20, "{sqlite:?}");
    let names = |schema: &Schema| schema.indexes.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&sqlite), names(&postgres));
    for (name, one) in &sqlite.indexes {
        let other = &postgres.indexes[name];
        // One store may add columns to make an index covering.
        let both = one.columns.len().min(other.columns.len());
        let comparable_index = |index: &Index| {
            (index.unique, index.table.clone(), index.columns[..both].to_vec(), index.rows.clone())
        };
        assert_eq!(comparable_index(one), comparable_index(other), "{name}");
    }
}

#[test]
fn primary_keys_and_indexes_start_with_the_tenant_unless_listed() {
    /// Indexes that do not start with the tenant: for lookups before the tenant is known, and for sweeps across
    /// tenants.
    const WITHOUT: [&str; 20] = [
        "api_keys_by_hash",
        "api_keys_by_expiring_due",
        "api_keys_by_id",
        "api_keys_by_previous_expiring_due",
        "api_keys_by_previous_hash",
        "api_keys_by_reminder",
        "identity_providers_by_id",
        "deliveries_by_time",
        "delivery_jobs_by_due_time",
        "erasures_running",
        "events_by_created_at",
        "invitations_by_mail_due",
        "invitations_by_token",
        "notifications_by_age",
        "notifications_by_reading",
        "objectives_by_due_day",
        "organizations_retention_due",
        "replays_by_expiry",
        "search_segments_by_replaced_at",
        "webhooks_by_failing_due",
    ];
    let schema = read("sqlite");
    for (name, Index { columns, .. }) in &schema.indexes {
        assert!(columns[0] == "tenant_id" || WITHOUT.contains(&name.as_str()), "{name}: {columns:?}");
    }
    /// Tables without a tenant, or with a key across tenants.
    const ACROSS_TENANTS: [&str; 4] = ["master_keys", "write_probes", "recipient_mails", "identity_proofs"];
    for (table, constraint) in
        schema.constraints.iter().filter(|(constraint, _)| !ACROSS_TENANTS.contains(&constraint.as_str()))
    {
        let columns = constraint.split_once('(').unwrap().1;
        assert!(columns.starts_with("tenant_id"), "{table}: {constraint}");
    }
}
