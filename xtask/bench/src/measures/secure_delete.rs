//! The cost of overwriting deleted content in the files of SQLite: the rows of a create and of a PATCH with and
//! without `secure_delete`, on a copy of the database.

use super::*;
use std::cell::Cell;
use std::fs;
use std::time::Instant;

/// Transactions of one turn.
const COMMITS: usize = 1_000;
/// Limit on the time of a write, as a multiple of that without `secure_delete`.
const MAX_COST: f64 = 1.15;

/// The kinds of writes.
#[derive(Debug, Clone, Copy)]
enum Change {
    Create,
    Patch,
}

/// A copy of the database with the rows to change.
struct Copy {
    database: Database,
    tenant: String,
    person: String,
    /// Ids of stored observations, in hexadecimal digits.
    observations: Vec<String>,
    /// Number of the next write.
    next: Cell<usize>,
}

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    if instance.store != Store::Sqlite {
        return Ok(vec![]);
    }
    let file = std::env::temp_dir().join(format!("candor-bench-copy-{}.db", std::process::id()));
    instance.database()?.run(&format!("VACUUM INTO '{}'", file.display()))?;
    let lines = measure(data, instance, &format!("sqlite://{}", file.display()));
    for end in ["", "-wal", "-shm"] {
        drop(fs::remove_file(format!("{}{end}", file.display())));
    }
    lines
}

fn measure(data: &DataSet<'_>, instance: &Instance, url: &str) -> Result<Vec<Line>> {
    let database = Database::connect(url)?;
    database.run("PRAGMA journal_mode = wal; PRAGMA cache_size = -65536; PRAGMA foreign_keys = on")?;
    let tenant = Store::Sqlite.bytes(instance.tenant);
    let condition = format!("FROM observations WHERE tenant_id = {tenant} AND archived = 0 LIMIT {COMMITS}");
    let copy = Copy {
        observations: database.texts(&format!("SELECT hex(id) AS value {condition}"))?,
        person: database.text(&format!("(SELECT hex(employee_id) {condition})"))?,
        database,
        tenant,
        next: Cell::new(0),
    };
    let mut lines = vec![];
    for (kind, what) in [(Change::Create, "create"), (Change::Patch, "PATCH")] {
        let mut turns = vec![];
        for number in 0..=2 * data.options.rounds() {
            let first_is_on = number % 2 == 0;
            let first = copy.turn(kind, first_is_on)?;
            let second = copy.turn(kind, !first_is_on)?;
            // The first pair fills the page cache.
            if number > 0 {
                turns.push(if first_is_on { [first, second] } else { [second, first] });
            }
        }
        let micros = |at: usize| format!("{:.1} µs", median(turns.iter().map(|turn| turn[at])));
        lines.push(Line::new(
            format!("Rows of a {what} with `secure_delete`, without a flush"),
            Store::Sqlite,
            [micros(0), format!("without it {}", micros(1))],
            (median(turns.iter().map(|turn| turn[0] / turn[1])), "×"),
            Limit::AtMost(MAX_COST),
        ));
    }
    Ok(lines)
}

impl Copy {
    /// Returns the microseconds of a write.
    fn turn(&self, kind: Change, is_on: bool) -> Result<f64> {
        self.database.checkpoint()?;
        self.database.run(if is_on { "PRAGMA secure_delete = on" } else { "PRAGMA secure_delete = off" })?;
        let begun = Instant::now();
        for _ in 0..COMMITS {
            let number = self.next.replace(self.next.get() + 1);
            self.database.run(&self.statements(kind, number))?;
        }
        Ok(begun.elapsed().as_secs_f64() * 1e6 / COMMITS as f64)
    }

    /// Returns a transaction with the rows that the service writes: the observation, an event and an audit entry.
    fn statements(&self, kind: Change, number: usize) -> String {
        let Self { tenant, person, .. } = self;
        let at = 1_790_000_000_000_u64 + number as u64;
        let id = |row: u8| format!("x'{at:012x}{row:02x}{number:018x}'");
        let text = format!("{number:08} {}", "Answers within a day. ".repeat(16));
        let row = match kind {
            Change::Create => format!(
                "INSERT INTO observations (tenant_id, id, employee_id, type, observation, attribute_ids, \
                 observation_date, created_at, updated_at, archived, version) VALUES ({tenant}, {}, x'{person}', \
                 'strength', '{text}', x'', 20500, {at}, {at}, 0, 1)",
                id(1)
            ),
            Change::Patch => format!(
                "UPDATE observations SET observation = '{text}', updated_at = {at}, version = version + 1 \
                 WHERE tenant_id = {tenant} AND id = x'{}'",
                self.observations[number % self.observations.len()]
            ),
        };
        format!(
            "BEGIN IMMEDIATE; {row}; \
             INSERT INTO events (tenant_id, id, type, created_at, data) VALUES \
             ({tenant}, {}, 'observation.updated', {at}, '{text}{text}'); \
             INSERT INTO audit_entries (tenant_id, id, occurred_at, action, actor_type, actor_id, actor_name, \
             target_type, target_id, changes, request_id, ip) VALUES ({tenant}, {}, {at}, 'observation.update', \
             'api_key', 'key_{number:026}', 'bench', 'observation', 'obs_{number:026}', '{{\"text\": \"{text}\"}}', \
             'req_{number:026}', '127.0.0.1'); COMMIT",
            id(2),
            id(3)
        )
    }
}
