//! Rows for every table, with edge values for every column type.

use candor_domain::access::Tenant;
use candor_domain::time::{Date, Timestamp};
use candor_store_testkit::Fixtures;
use candor_tables::copy::{CopyRow, CopyTable, tables};
use candor_tables::flat::{Column, SqlValue, Stored, Type};

/// Number of rows per table, except for messages.
const ROWS: usize = 3;
/// Number of messages, more than one batch of the copy.
const MANY: usize = 10_100;

/// Columns that are null in one of the rows.
const OPTIONAL: [&str; 13] = [
    "archived_at",
    "comment",
    "ip",
    "remind_at",
    "previous_hash",
    "reads_per_minute",
    "mail_token",
    "mail_leased_until",
    "delivery_id",
    "due_date",
    "about_id",
    "failure",
    "description",
];

/// Returns every table with its rows.
pub(crate) fn everything() -> Vec<(CopyTable, Vec<CopyRow>)> {
    let seed = Seed::new();
    tables().into_iter().map(|table| (table.clone(), seed.rows(&table))).collect()
}

struct Seed {
    tenant: Tenant,
    /// Rows of the tables that need valid contents: searched texts must be readable, and other rows refer to
    /// people.
    readable: Vec<(&'static str, Vec<CopyRow>)>,
}

impl Seed {
    fn new() -> Self {
        let make = Fixtures::new(3);
        let tenant = make.tenant();
        let people: Vec<_> = (0..ROWS).map(|_| make.employee()).collect();
        let rows = |all: Vec<Vec<SqlValue>>| {
            all.into_iter()
                .map(|cells| [vec![SqlValue::Id(tenant.to_bytes())], cells, vec![SqlValue::Int(1)]].concat())
                .collect()
        };
        fn cells<T: Stored>(it: &T) -> Vec<SqlValue> {
            it.cells().unwrap()
        }
        let readable = vec![
            ("observations", rows(people.iter().map(|person| cells(&make.observation(person.id))).collect())),
            ("objectives", rows(people.iter().map(|person| cells(&make.objective(person.id))).collect())),
            ("summaries", rows(people.iter().map(|person| cells(&make.summary(person.id))).collect())),
            // In reverse order of ids: the first row is the manager of the others and is copied last.
            ("employees", rows(people.iter().rev().map(cells).collect())),
        ];
        let mut it = Self { tenant, readable };
        let first = it.id("employees", 0);
        let manager = column("employees", "manager_id");
        for (_, rows) in it.readable.iter_mut().filter(|(name, _)| *name == "employees") {
            rows.iter_mut().skip(1).for_each(|row| row[manager] = SqlValue::Id(first));
        }
        it
    }

    fn rows(&self, table: &CopyTable) -> Vec<CopyRow> {
        if let Some((_, rows)) = self.readable.iter().find(|(name, _)| *name == table.name) {
            return rows.clone();
        }
        let count = if table.name == "messages" { MANY } else { ROWS };
        // `reporting_trees` has one row per tenant.
        let count = if table.key.len() == 1 && table.name == "reporting_trees" { 1 } else { count };
        (0..count).map(|at| table.columns.iter().map(|column| self.cell(table, column, at)).collect()).collect()
    }

    /// Returns the id of a row.
    fn id(&self, table: &str, at: usize) -> [u8; 16] {
        if let Some((_, rows)) = self.readable.iter().find(|(name, _)| *name == table)
            && let SqlValue::Id(id) = rows[at % ROWS][1]
        {
            return id;
        }
        let mut id = [0; 16];
        id[0] = 1;
        id[1..9].copy_from_slice(&(at as u64).to_be_bytes());
        let name = table.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
        id[9..13].copy_from_slice(&name.to_be_bytes());
        id
    }

    fn cell(&self, table: &CopyTable, column: &Column, at: usize) -> SqlValue {
        if at == 1 && OPTIONAL.contains(&column.name) {
            return SqlValue::Null(column.kind);
        }
        let refers_to = match column.name {
            // A source with incomplete reporting lines is refused.
            "rebuilt_until" => return SqlValue::Null(column.kind),
            "tenant_id" => return SqlValue::Id(self.tenant.to_bytes()),
            // Positions with gaps, as rollbacks leave them on SQLite.
            "position" => return SqlValue::Int([3, 5, 9][at]),
            // The link of a person has the id of the person.
            "id" if table.name == "scim_users" => "employees",
            "id" => table.name,
            "connector_id" => "connectors",
            "objective_id" => "objectives",
            "observation_id" => "observations",
            "summary_id" => "summaries",
            "conversation_id" => "conversations",
            "assignment_id" => "assignments",
            // All other id columns refer to people, or to any row.
            _ => "employees",
        };
        match column.kind {
            Type::Id => SqlValue::Id(self.id(refers_to, if refers_to == table.name { at } else { at % ROWS })),
            Type::Text => SqlValue::Text(format!("{} {at}: it's \"so\",\n\t\\N \\. {{✓}} 日本 😀", column.name)),
            Type::Int => SqlValue::Int([0, -1, i64::MAX][at % 3]),
            Type::Flag => SqlValue::Flag(at.is_multiple_of(2)),
            Type::Time => {
                SqlValue::Time(Timestamp::from_millis([1_772_442_000_123, -86_400_001, 951_782_400_000][at % 3]))
            }
            Type::Date => SqlValue::Date(Date::from_epoch_days([20_514, -1, 11_016][at % 3])),
            Type::Ids => SqlValue::Ids((0..at).map(|number| self.id("employees", number)).collect()),
            Type::Bytes => SqlValue::Bytes([&[0, 255, b'\\', at as u8], column.name.as_bytes()].concat()),
        }
    }
}

fn column(table: &str, name: &str) -> usize {
    let table = tables().into_iter().find(|layout| layout.name == table).unwrap();
    table.columns.iter().position(|column| column.name == name).unwrap()
}
