//! Requirements as checks. A check locks the rows that it reads, so that the requirement still holds at commit
//! time. Rows that may be archived while referenced, such as attributes, are read without a lock. Otherwise all
//! change sets of a tenant would lock the same few rows.

use std::collections::BTreeMap;

use candor_domain::id::DepartmentId;
use candor_port_storage::Require;
use candor_port_storage::change::{RowKey, RowLimit, ValidKeys};
use candor_tables::flat::{SqlValue, Type};

use crate::failure::CHECK_PREFIX;
use crate::layout::Statement;
use crate::sql::valid_keys::valid_keys;

/// Prefix of the check name of a requirement; the index of the requirement follows.
pub(crate) const CHECK: &str = "require:";

/// Adds the checks of all requirements, with one lookup for each kind.
pub(super) fn check_all(statement: &mut Statement, requires: &[Require]) {
    let mut open: BTreeMap<_, (_, Vec<_>)> = BTreeMap::new();
    let mut unchanged_rows: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (at, require) in requires.iter().enumerate() {
        match require {
            Require::Open(RowKey { table, id }) => {
                open.entry(table.name).or_insert_with(|| (*table, vec![])).1.push((at, *id, 0));
            }
            Require::Unchanged(RowKey { table, id }, version) => {
                unchanged_rows.entry(table.name).or_default().push((at, *id, version.0));
            }
            Require::DepartmentVacant(id) => check_vacant(statement, at, *id),
            Require::RowsBelow(limit) => check_rows_below(statement, at, *limit),
            Require::KeysBelow(keys, most) => check_keys(statement, at, *keys, *most),
        }
    }
    for (name, (table, wanted)) in open {
        let and = if table.held_open { "AND NOT archived FOR SHARE OF t" } else { "AND NOT archived" };
        check_rows(statement, name, "0::bigint", and, &wanted);
    }
    for (name, wanted) in unchanged_rows {
        check_rows(statement, name, "version", "FOR SHARE OF t", &wanted);
    }
}

/// Checks that rows exist, meet the condition `and`, and have the wanted number, such as a version. A check with
/// row locks waits for concurrent changes and then evaluates the row again.
fn check_rows(statement: &mut Statement, table: &str, number: &str, and: &str, wanted: &[(usize, [u8; 16], i64)]) {
    if wanted.is_empty() {
        return;
    }
    let ids = statement.sql.ids(wanted.iter().map(|(_, id, _)| *id));
    let numbers = statement.sql.many(Type::Int, wanted.iter().map(|(_, _, version)| SqlValue::Int(*version)));
    let places = wanted.iter().map(|(at, _, _)| SqlValue::Int(i64::try_from(*at).unwrap_or_default()));
    let places = statement.sql.many(Type::Int, places);
    let (tenant, from) = (statement.tenant.clone(), statement.source_clause(&format!("{table} AS t")));
    let matching_rows = statement.materialized_part(&format!(
        "SELECT t.id, {number} AS number {from} WHERE t.tenant_id = {tenant} AND t.id = ANY({ids}) {and}"
    ));
    statement.add_check(format!(
        "COALESCE((SELECT '{CHECK_PREFIX}{CHECK}' || min(w.place) \
         FROM UNNEST({ids}, {numbers}, {places}) AS w (id, number, place) \
         WHERE NOT EXISTS (SELECT 1 FROM {matching_rows} AS f WHERE f.id = w.id AND f.number = w.number)), '1')::int"
    ));
}

/// Returns `true` if an earlier statement takes the lock of the requirement: the count of the requirement must see
/// everything that was committed before the lock was taken.
pub(super) const fn is_locked_before(require: &Require) -> bool {
    match require {
        Require::DepartmentVacant(_) | Require::RowsBelow(_) | Require::KeysBelow(..) => true,
        Require::Open(_) | Require::Unchanged(..) => false,
    }
}

/// Takes the lock that a requirement with a count needs; other requirements need none.
pub(super) fn lock(statement: &mut Statement, require: &Require) {
    match require {
        Require::DepartmentVacant(id) => lock_department(statement, *id),
        Require::RowsBelow(_) | Require::KeysBelow(..) => lock_organization(statement),
        Require::Open(_) | Require::Unchanged(..) => {}
    }
}

/// Serializes the creation of rows whose number is limited, so that their number cannot exceed the maximum. Locks the
/// organization's row, of which each data set has its own.
fn lock_organization(statement: &mut Statement) {
    let (tenant, from) = (statement.tenant.clone(), statement.source_clause("organizations AS t"));
    let locked_row = statement
        .materialized_part(&format!("SELECT 1 {from} WHERE t.tenant_id = {tenant} FOR NO KEY UPDATE OF t"));
    statement.add_check(format!("(SELECT count(*) FROM {locked_row})::int"));
}

fn check_rows_below(statement: &mut Statement, at: usize, RowLimit { table, most }: RowLimit) {
    let (most, tenant) = (statement.sql.bind(SqlValue::Int(i64::from(most))), statement.tenant.clone());
    statement.check(
        &format!(
            "EXISTS (SELECT 1 FROM organizations WHERE tenant_id = {tenant}) \
             AND (SELECT count(*) FROM {} WHERE tenant_id = {tenant}) < {most}",
            table.name
        ),
        &format!("{CHECK}{at}"),
    );
}

fn check_keys(statement: &mut Statement, at: usize, keys: ValidKeys, most: u32) {
    let tenant = statement.tenant.clone();
    let count = valid_keys(&mut statement.sql, &tenant, keys, most);
    let most = statement.sql.bind(SqlValue::Int(i64::from(most)));
    statement.check(
        &format!("EXISTS (SELECT 1 FROM organizations WHERE tenant_id = {tenant}) AND {count} < {most}"),
        &format!("{CHECK}{at}"),
    );
}

/// Locks a department against new members: commits that require an open department, and foreign keys to it, wait.
fn lock_department(statement: &mut Statement, id: DepartmentId) {
    let id = statement.sql.id(id.to_bytes());
    let (tenant, from) = (statement.tenant.clone(), statement.source_clause("departments AS t"));
    let locked_row = statement.materialized_part(&format!(
        "SELECT 1 {from} WHERE t.tenant_id = {tenant} AND t.id = {id} FOR UPDATE OF t"
    ));
    statement.add_check(format!("(SELECT count(*) FROM {locked_row})::int"));
}

fn check_vacant(statement: &mut Statement, at: usize, id: DepartmentId) {
    let id = statement.sql.id(id.to_bytes());
    let (statuses, tenant) = (statement.sql.present_statuses(), statement.tenant.clone());
    statement.check(
        &format!(
            "NOT EXISTS (SELECT 1 FROM employees WHERE tenant_id = {tenant} AND department_id = {id} \
             AND status = ANY({statuses}))"
        ),
        &format!("{CHECK}{at}"),
    );
}
