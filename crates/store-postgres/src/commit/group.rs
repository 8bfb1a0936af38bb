//! Rows of a change set by table, so that any number of them takes one part of the statement.

use candor_domain::access::Tenant;
use candor_tables::AnyRow;
use candor_tables::Unwritable;
use candor_tables::flat::{Cell, Column, MemberTable, Table, Type};

use super::statement::{STALE, Statement};
use super::webhooks;
use crate::layout::{CREDENTIAL_TENANTS, FEED_POSITIONS, NEXT_POSITION, SECRETS, count_up};

/// All rows to write.
pub(super) struct Groups<'c> {
    tenant: Tenant,
    groups: Vec<Group<'c>>,
}

/// The rows of one table.
struct Group<'c> {
    table: &'static Table,
    new: Vec<Entry<'c>>,
    changed: Vec<Entry<'c>>,
}

/// One row.
struct Entry<'c> {
    row: &'c AnyRow,
    cells: &'c [Cell],
}

impl Entry<'_> {
    fn id(&self) -> Cell {
        Cell::Id(self.row.id())
    }

    /// The version that was seen; nothing that is new has been.
    fn seen(&self) -> Cell {
        Cell::Int(self.row.seen().map_or(0, |it| it.0))
    }

    fn refers_to(&self, others: &[Entry]) -> bool {
        let ids = self.cells.iter().filter_map(|it| if let Cell::Id(id) = it { Some(*id) } else { None });
        ids.into_iter().any(|id| others.iter().any(|it| it.row.id() == id))
    }
}

impl<'c> Groups<'c> {
    /// None so far of what a tenant is to have.
    pub(super) const fn of(tenant: Tenant) -> Self {
        Self { tenant, groups: vec![] }
    }

    /// Adds a row.
    pub(super) fn add(&mut self, row: &'c AnyRow) -> Result<(), Unwritable> {
        let table = row.table();
        let entry = Entry { row, cells: row.cells()? };
        let at = self.groups.iter().position(|it| it.table.name == table.name).unwrap_or_else(|| {
            self.groups.push(Group { table, new: vec![], changed: vec![] });
            self.groups.len() - 1
        });
        let Group { new, changed, .. } = &mut self.groups[at];
        if row.seen().is_some() {
            changed.push(entry)
        } else {
            new.push(entry)
        }
        Ok(())
    }

    /// Adds the parts that write all rows.
    pub(super) fn write(&self, statement: &mut Statement) {
        for group in &self.groups {
            let tenant = match group.table.tenant(self.tenant) {
                own if own == self.tenant => statement.tenant.clone(),
                other => statement.sql.id(other.to_bytes()),
            };
            // One statement may refer to what another part of it adds; of several, what is added comes first.
            let (late, early): (Vec<_>, Vec<_>) =
                group.changed.iter().partition(|it| statement.layout.is_by_tenant() && it.refers_to(&group.new));
            update(statement, group.table, &tenant, &early);
            insert(statement, group.table, &tenant, &group.new);
            update(statement, group.table, &tenant, &late);
            wait_for_the_index(statement, group);
            if let Some(members) = &group.table.members {
                remove_members(statement, members, &tenant, &group.changed);
                add_members(statement, members, &tenant, &group.changed, "ON CONFLICT DO NOTHING");
                // Nobody can have written those of a row that was not there.
                add_members(statement, members, &tenant, &group.new, "");
            }
            if statement.layout.is_by_tenant() {
                group.changed.iter().chain(&group.new).for_each(|it| name_tenant(statement, group.table, &tenant, it));
            }
        }
    }

    /// Adds the parts that write new events, each behind those that the tenant has. Nobody is expected to want the `unwanted`
    /// types of them.
    pub(super) fn write_positioned(&self, statement: &mut Statement, unwanted: i64) {
        for Group { table, new, .. } in &self.groups {
            if new.len() > FEW {
                insert_at_one_position(statement, table, new);
                webhooks::expect_nobody(statement, unwanted);
            } else {
                insert_positioned(statement, table, new, unwanted);
            }
        }
    }
}

/// Where tenants are spread over nodes, so many rows are inserted as values that go to the tenant's node as they are. More of
/// them travel through the node that is asked, which then costs less.
const FEW: usize = 16;

/// Says whose the secrets of a row are.
fn name_tenant(statement: &mut Statement, table: &Table, tenant: &str, row: &Entry) {
    let secrets = all(table).zip(row.cells).filter(|(it, _)| SECRETS.contains(&it.name));
    let hashes: Vec<_> = secrets.map(|(_, cell)| cell.clone()).filter(|it| matches!(it, Cell::Bytes(_))).collect();
    for hash in hashes {
        let hash = statement.sql.bind(hash);
        statement.part(
            "",
            &format!("INSERT INTO {CREDENTIAL_TENANTS} (hash, tenant_id) VALUES ({hash}, {tenant}) ON CONFLICT (hash) DO NOTHING"),
        );
    }
}

fn all(table: &Table) -> impl Iterator<Item = &Column> {
    table.columns.iter().chain(table.derived)
}

fn names(table: &Table) -> String {
    all(table).map(|it| it.name).collect::<Vec<_>>().join(", ")
}

/// The columns of an insert, and what the version's is to be.
fn into(table: &Table) -> (String, &'static str) {
    let (version, first) = if table.versioned { (", version", ", 1") } else { ("", "") };
    (format!("{} (tenant_id, {}{version})", table.name, names(table)), first)
}

/// Names the rows that words find, for the index of words.
fn wait_for_the_index(statement: &mut Statement, group: &Group) {
    let found: Vec<_> = group.changed.iter().chain(&group.new).filter(|it| it.row.is_searched()).collect();
    if found.is_empty() {
        return;
    }
    let (tenant, table) = (statement.tenant.clone(), statement.sql.bind(Cell::Text(group.table.name.to_owned())));
    let into = "INSERT INTO search_pending (tenant_id, table_name, id, version)";
    // Only what was there before can be waiting already.
    let known = match group.changed.as_slice() {
        [] => "",
        _ => "ON CONFLICT (tenant_id, table_name, id) DO UPDATE SET version = excluded.version",
    };
    if found.len() == 1 || statement.layout.is_by_tenant() && found.len() <= FEW {
        let row = |it: &&Entry| {
            let (id, version) = (statement.sql.id(it.row.id()), statement.sql.bind(Cell::Int(it.row.version().0)));
            format!("{tenant}, {table}, {id}, {version}")
        };
        let rows: Vec<_> = found.iter().map(row).collect();
        let rows = statement.rows(&rows);
        statement.part("", &format!("{into} {rows} {known}"));
        return;
    }
    let ids = statement.sql.ids(found.iter().map(|it| it.row.id()));
    let versions = statement.sql.many(Type::Int, found.iter().map(|it| Cell::Int(it.row.version().0)));
    let from = statement.from(&format!("UNNEST({ids}, {versions}) AS u (id, version)"));
    statement.part("", &format!("{into} SELECT {tenant}, {table}, u.id, u.version {from} {known}"));
}

fn insert(statement: &mut Statement, table: &Table, tenant: &str, rows: &[Entry]) {
    match rows {
        [] => {}
        few if few.len() == 1 || statement.layout.is_by_tenant() && few.len() <= FEW => {
            insert_few(statement, table, tenant, few);
        }
        many => insert_many(statement, table, tenant, many),
    }
}

fn insert_few(statement: &mut Statement, table: &Table, tenant: &str, rows: &[Entry]) {
    let (into, first) = into(table);
    let row = |it: &Entry| {
        let values: Vec<_> = it.cells.iter().map(|it| statement.sql.bind(it.clone())).collect();
        format!("{tenant}, {}{first}", values.join(", "))
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    let rows = statement.rows(&rows);
    statement.part("", &format!("INSERT INTO {into} {rows}"));
}

/// Each event has a position of its own.
fn insert_positioned(statement: &mut Statement, table: &Table, rows: &[Entry], unwanted: i64) {
    let (tenant, unwanted) = (statement.tenant.clone(), statement.sql.bind(Cell::Int(unwanted)));
    let row = |it: &Entry| {
        let values: Vec<_> = it.cells.iter().map(|it| statement.sql.bind(it.clone())).collect();
        format!("{tenant}, {}, {NEXT_POSITION}({tenant}, {unwanted})", values.join(", "))
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    let rows = statement.rows(&rows);
    statement.part("", &format!("INSERT INTO {} (tenant_id, {}, position) {rows}", table.name, names(table)));
}

/// Many have one together: among them the feed goes by their ids.
fn insert_at_one_position(statement: &mut Statement, table: &Table, rows: &[Entry]) {
    let tenant = statement.tenant.clone();
    statement.part("", &count_up(&tenant));
    let all: Vec<_> = rows.iter().collect();
    let (source, values) = (arrays(statement, table, &all), unnested(table).join(", "));
    let text = format!(
        "INSERT INTO {} (tenant_id, {}, position) SELECT f.tenant_id, {values}, f.position \
         FROM {FEED_POSITIONS} AS f, {source} WHERE f.tenant_id = {tenant}",
        table.name,
        names(table)
    );
    statement.part("", &text);
}

fn insert_many(statement: &mut Statement, table: &Table, tenant: &str, rows: &[Entry]) {
    let all: Vec<_> = rows.iter().collect();
    let (source, ((into, first), values)) = (arrays(statement, table, &all), (into(table), unnested(table)));
    let from = statement.from(&source);
    statement.part("", &format!("INSERT INTO {into} SELECT {tenant}, {}{first} {from}", values.join(", ")));
}

fn update(statement: &mut Statement, table: &Table, tenant: &str, rows: &[&Entry]) {
    match rows {
        [] => {}
        [one] => update_one(statement, table, tenant, one),
        many => update_many(statement, table, tenant, many),
    }
}

fn update_one(statement: &mut Statement, table: &Table, tenant: &str, row: &Entry) {
    let values = row.cells.iter().zip(all(table)).skip(1);
    let sets: Vec<_> = values.map(|(cell, it)| format!("{} = {}", it.name, statement.sql.bind(cell.clone()))).collect();
    let (id, seen, from) = (statement.sql.bind(row.id()), statement.sql.bind(row.seen()), statement.from(""));
    let part = statement.part(
        "",
        &format!(
            "UPDATE {} AS t SET {}, version = t.version + 1 {from} \
             WHERE t.tenant_id = {tenant} AND t.id = {id} AND t.version = {seen} RETURNING 1",
            table.name,
            sets.join(", ")
        ),
    );
    statement.check(&format!("(SELECT count(*) FROM {part}) = 1"), STALE);
}

fn update_many(statement: &mut Statement, table: &Table, tenant: &str, rows: &[&Entry]) {
    let source = arrays(statement, table, rows);
    let sets: Vec<_> =
        all(table).zip(unnested(table)).skip(1).map(|(it, value)| format!("{} = {value}", it.name)).collect();
    let from = statement.from(&source);
    let part = statement.part(
        "",
        &format!(
            "UPDATE {} AS t SET {}, version = t.version + 1 {from} \
             WHERE t.tenant_id = {tenant} AND t.id = u.id AND t.version = u.seen RETURNING 1",
            table.name,
            sets.join(", ")
        ),
    );
    // A number in the text would make another statement of every count.
    let count = statement.sql.bind(Cell::Int(i64::try_from(rows.len()).unwrap_or(i64::MAX)));
    statement.check(&format!("(SELECT count(*) FROM {part}) = {count}"), STALE);
}

/// The rows, column by column, as a table named `u`.
fn arrays(statement: &mut Statement, table: &Table, rows: &[&Entry]) -> String {
    let mut arrays: Vec<_> = all(table)
        .enumerate()
        .map(|(at, column)| {
            let cells = rows.iter().map(|row| row.cells.get(at).cloned().unwrap_or(Cell::Null(column.kind)));
            statement.sql.many(column.kind, cells)
        })
        .collect();
    arrays.push(statement.sql.many(Type::Int, rows.iter().map(|it| it.seen())));
    format!("UNNEST({}) AS u ({}, seen)", arrays.join(", "), names(table))
}

/// The columns of `u`; arrays travel as texts.
fn unnested(table: &Table) -> Vec<String> {
    let cast = |kind| if kind == Type::Ids { "::uuid[]" } else { "" };
    all(table).map(|it| format!("u.{}{}", it.name, cast(it.kind))).collect()
}

/// Each tag with the row that has it.
fn pairs(rows: &[Entry]) -> (Vec<[u8; 16]>, Vec<[u8; 16]>) {
    rows.iter().flat_map(|it| it.row.members().iter().map(move |tag| (it.row.id(), *tag))).unzip()
}

fn remove_members(statement: &mut Statement, members: &MemberTable, tenant: &str, changed: &[Entry]) {
    if changed.is_empty() {
        return;
    }
    let rows = statement.sql.ids(changed.iter().map(|it| it.row.id()));
    let (owners, tags) = pairs(changed);
    let (owners, tags) = (statement.sql.ids(owners), statement.sql.ids(tags));
    let (MemberTable { name, owner, member }, using) = (members, statement.using());
    statement.part(
        "",
        &format!(
            "DELETE FROM {name} AS m {using} WHERE m.tenant_id = {tenant} AND m.{owner} = ANY({rows}) AND NOT EXISTS \
             (SELECT 1 FROM UNNEST({owners}, {tags}) AS u (owner, tag) WHERE u.owner = m.{owner} AND u.tag = m.{member})"
        ),
    );
}

fn add_members(statement: &mut Statement, members: &MemberTable, tenant: &str, rows: &[Entry], conflict: &str) {
    let (owners, tags) = pairs(rows);
    if tags.is_empty() {
        return;
    }
    let rows = if statement.layout.is_by_tenant() && tags.len() <= FEW {
        let pairs = owners.into_iter().zip(tags).map(|(owner, tag)| {
            let (owner, tag) = (statement.sql.id(owner), statement.sql.id(tag));
            format!("({tenant}, {owner}, {tag})")
        });
        format!("VALUES {}", pairs.collect::<Vec<_>>().join(", "))
    } else {
        let (owners, tags) = (statement.sql.ids(owners), statement.sql.ids(tags));
        let from = statement.from(&format!("UNNEST({owners}, {tags}) AS u (owner, tag)"));
        format!("SELECT {tenant}, u.owner, u.tag {from}")
    };
    let MemberTable { name, owner, member } = members;
    statement.part("", &format!("INSERT INTO {name} (tenant_id, {owner}, {member}) {rows} {conflict}"));
}
