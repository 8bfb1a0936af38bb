//! Files of ten thousand people: the cost of new and unchanged people, memory, and the wait of another writer.

use super::*;
use diesel::RunQueryDsl;
use diesel::connection::Connection;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::sql_types::BigInt;
use diesel::sqlite::{Sqlite, SqliteConnection};
use std::fmt::Write;

/// Number of rows of a file, the most that the API allows.
pub(super) const PEOPLE: u32 = 10_000;
const DEPARTMENTS: u32 = 100;
/// Number of direct reports of a manager.
const REPORTS: u32 = 8;
/// A prime that does not divide the number of people, so that the rows are shuffled.
const STEP: u32 = 7_919;
const MAX_AGAINST_BARE_ROWS: f64 = 8.0;
const MAX_UNCHANGED: f64 = 0.4;
const MAX_MEGABYTES: f64 = 100.0;
const MAX_WAIT_MILLIS: f64 = 100.0;

/// Seconds of the uploads of a round, and the waits of another writer during one upload.
struct Round {
    created: f64,
    unchanged: f64,
    bare: f64,
    peak_megabytes: f64,
    waits: Sample,
}

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let idle = instance.service.own_bytes()?;
    let rounds = (0..=data.options.rounds()).map(|number| round(data, instance, idle, number));
    // The first round prepares the statements. Only its memory counts.
    let mut rounds = rounds.collect::<Result<Vec<_>>>()?;
    let peak = rounds.iter().map(|round| round.peak_megabytes).fold(f64::NAN, f64::max);
    rounds.remove(0);
    let seconds = |property: fn(&Round) -> f64| format!("{:.2} s", median_of(&rounds, property));
    let creation_time = seconds(|round| round.created);
    let wait_within = |part: f64| median_of(&rounds, |round| round.waits.millis_within(part));
    let line =
        |what, figures, value, at_most| Line::new(what, instance.store, figures, value, Limit::AtMost(at_most));
    Ok(vec![
        line(
            "CSV of 10,000 new people, with managers, departments, events and audit entries",
            [creation_time.clone(), format!("one insert of their bare rows {}", seconds(|round| round.bare))],
            (median_of(&rounds, |round| round.created / round.bare), "×"),
            MAX_AGAINST_BARE_ROWS,
        ),
        line(
            "The same CSV again",
            [seconds(|round| round.unchanged), format!("the first time {creation_time}")],
            (median_of(&rounds, |round| round.unchanged / round.created), "×"),
            MAX_UNCHANGED,
        ),
        line(
            "Memory during CSV, above idle, without mapped files",
            ["10,000 new, unchanged and changed people".to_owned(), String::new()],
            (peak, "MB"),
            MAX_MEGABYTES,
        ),
        line(
            "Longest wait of another writer during CSV",
            [format!("99% within {:.0} ms", wait_within(0.99)), String::new()],
            (wait_within(1.0), "ms"),
            MAX_WAIT_MILLIS,
        ),
    ])
}

fn round(data: &DataSet<'_>, instance: &Instance, idle: u64, number: usize) -> Result<Round> {
    let name = format!("n{number}-");
    let (uploads, address) = (Uploads::new(&instance.api)?, instance.service.address);
    let renames = Traffic::renames(&instance.api.key, data.size);
    let people = file(&name, "Ada");
    let ((created, unchanged, waits), peak) = instance.service.peak_bytes_during(|| {
        let creation_round = uploads.send(&people, "created")?;
        let unchanged_round = uploads.send(&people, "skipped")?;
        let change_round = || uploads.send(&file(&name, "Eva"), "updated");
        Ok((creation_round, unchanged_round, run_beside(address, &renames, number as u64, change_round)?.1))
    })?;
    let peak_megabytes = peak.saturating_sub(idle) as f64 / MEGABYTE;
    Ok(Round { created, unchanged, bare: insert_bare(instance, &name, number)?, peak_megabytes, waits })
}

/// Inserts the people whose addresses begin with `name` once more, as people of another organization, in the same
/// table with the same indexes and checks. Returns the seconds of the insert.
fn insert_bare(instance: &Instance, name: &str, number: usize) -> Result<f64> {
    let (database, store) = (instance.database()?, instance.store);
    let mut tenant = instance.tenant;
    tenant[8] ^= u8::try_from(number + 1)?;
    let (own, other) = (store.bytes(instance.tenant), store.bytes(tenant));
    // SQLite inserts row by row, so managers must precede their reports: `rowid` has the order of the service.
    let order = store.pick("id", "rowid");
    // Settings of the service's own connection, where writes do not run checkpoints either.
    database.run_by_store(
        "",
        "PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = on; \
         PRAGMA cache_size = -16384; PRAGMA mmap_size = 0; PRAGMA temp_store = memory",
    )?;
    database.run(&format!(
        "CREATE TEMP TABLE bare_departments AS SELECT * FROM departments WHERE tenant_id = {own}; \
         UPDATE bare_departments SET tenant_id = {other}; \
         INSERT INTO departments SELECT * FROM bare_departments; \
         CREATE TEMP TABLE bare AS SELECT * FROM employees WHERE tenant_id = {own} \
         AND email_key LIKE '{name}%' ORDER BY {order}; UPDATE bare SET tenant_id = {other}"
    ))?;
    seconds(|| match &database {
        Database::Postgres(_) => database.run("INSERT INTO employees SELECT * FROM bare"),
        Database::Sqlite { connection, .. } => connection.borrow_mut().transaction(|connection| {
            (1..=i64::from(PEOPLE)).try_for_each(|row| OneRow(row).execute(connection).map(drop))?;
            Ok(())
        }),
    })
}

/// Statement that inserts the row of the table `bare` with this `rowid`. The service prepares such a statement, too.
#[derive(QueryId)]
struct OneRow(i64);

impl QueryFragment<Sqlite> for OneRow {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("INSERT INTO employees SELECT * FROM bare WHERE rowid = ");
        out.push_bind_param::<BigInt, _>(&self.0)
    }
}

impl RunQueryDsl<SqliteConnection> for OneRow {}

/// Returns a file of people whose addresses and departments begin with `name`.
pub(super) fn file(name: &str, first_name: &str) -> String {
    let mut text = "email,first_name,last_name,role,manager_email,department_name\n".to_owned();
    for row in 0..PEOPLE {
        let person = row * STEP % PEOPLE;
        let manager =
            person.checked_sub(1).map_or_else(String::new, |one| format!("{name}{}@example.com", one / REPORTS));
        let role = if person < PEOPLE / REPORTS { "manager" } else { "employee" };
        let department = person % DEPARTMENTS;
        // Writing to a text cannot fail.
        let _ = writeln!(
            text,
            "{name}{person}@example.com,{first_name},Example {person},{role},{manager},{name}Dep {department}"
        );
    }
    text
}

/// Uploads with a key of their own: the quota of a key is six a minute.
#[derive(Debug)]
pub(super) struct Uploads(Api);

impl Uploads {
    pub(super) fn new(tenant: &Api) -> Result<Self> {
        let body = json!({"name": "csv", "scopes": ["employees:write"], "access_level": "admin"});
        let response = tenant.send("POST", "/v1/api-keys", &body)?;
        let key = response["key"].as_str().ok_or("the answer has no key")?.to_owned();
        Ok(Self(Api { key, ..tenant.clone() }))
    }

    /// Uploads a file and returns the seconds. The service must count all rows under the name `counter`.
    pub(super) fn send(&self, file: &str, counter: &str) -> Result<f64> {
        let (seconds, response) = self.0.upload(file)?;
        if response["data"][counter].as_u64() != Some(PEOPLE.into()) {
            let response_excerpt: String = response.to_string().chars().take(400).collect();
            return Err(format!("not every row was {counter}: {response_excerpt}").into());
        }
        Ok(seconds)
    }
}
