//! Check of a change set against the stored rows, as one query for each tenant under which they are stored.

use std::collections::BTreeMap;

use candor_domain::access::Tenant;
use candor_port_storage::change::{RowKey, RowLimit};
use candor_port_storage::{CommitCondition, Require};
use candor_tables::flat::{SqlValue, Type};

use crate::sql::Sql;
use crate::sql::valid_keys::valid_keys;

/// Number that stands for a row that is missing.
const MISSING: i64 = -1;

/// Conditions on rows, by table and compared expression. Each has its position, the row's id and the wanted value.
type RowConditions = BTreeMap<(&'static str, &'static str), Vec<(i64, [u8; 16], i64)>>;
/// Conditions that values are free, by table and column. Each has its position, the id of the row that may have
/// the value, and the value.
type ValueConditions = BTreeMap<(&'static str, &'static str), Vec<(i64, [u8; 16], SqlValue)>>;

/// Conditions on the rows that are stored under one tenant, each with its position among all conditions.
struct Query {
    sql: Sql,
    /// Placeholder of the tenant.
    tenant: String,
    rows: RowConditions,
    values: ValueConditions,
    /// Expressions that return the position of a condition that does not hold, or null.
    places: Vec<String>,
}

/// Builds the queries that evaluate all conditions. Each returns the position of the first condition that does not
/// hold, or null.
pub(crate) fn queries(tenant: Tenant, conditions: &[CommitCondition]) -> Vec<Sql> {
    let mut by_tenant: BTreeMap<[u8; 16], Query> = BTreeMap::new();
    for (place, condition) in (0..).zip(conditions) {
        let owner = stored_under(tenant, condition);
        by_tenant.entry(owner.to_bytes()).or_insert_with(|| Query::new(owner)).add(place, condition);
    }
    by_tenant.into_values().map(Query::finish).collect()
}

/// Returns the tenant under which the rows of a condition are stored.
const fn stored_under(tenant: Tenant, condition: &CommitCondition) -> Tenant {
    match condition {
        CommitCondition::HasVersion(key, _)
        | CommitCondition::IsAbsent(key)
        | CommitCondition::IsOpen(key)
        | CommitCondition::IsFree(key, ..) => key.table.tenant(tenant),
        CommitCondition::Required(_) | CommitCondition::TreeHasVersion(_) => tenant,
    }
}

impl Query {
    fn new(owner: Tenant) -> Self {
        let mut sql = Sql::default();
        let tenant = sql.tenant(owner);
        Self { sql, tenant, rows: BTreeMap::new(), values: BTreeMap::new(), places: vec![] }
    }

    fn add(&mut self, place: i64, condition: &CommitCondition) {
        match condition {
            CommitCondition::HasVersion(key, version) => self.compare(place, *key, "t.version", version.0),
            CommitCondition::IsAbsent(key) => self.compare(place, *key, "1::bigint", MISSING),
            CommitCondition::IsOpen(key) => self.compare(place, *key, "t.archived::int::bigint", 0),
            CommitCondition::IsFree(RowKey { table, id }, column, value) => {
                let entry = (place, *id, value.clone());
                self.values.entry((table.name, column.column)).or_default().push(entry);
            }
            CommitCondition::TreeHasVersion(version) => {
                let (tenant, version) = (&self.tenant, self.sql.bind(SqlValue::Int(version.0)));
                let tree = format!("SELECT version FROM reporting_trees WHERE tenant_id = {tenant}");
                self.expect(place, &format!("coalesce(({tree}), 0) = {version}"));
            }
            CommitCondition::Required(require) => self.add_required(place, *require),
        }
    }

    fn add_required(&mut self, place: i64, require: Require) {
        let tenant = self.tenant.clone();
        match require {
            Require::Open(key) => self.compare(place, key, "t.archived::int::bigint", 0),
            Require::Unchanged(key, version) => self.compare(place, key, "t.version", version.0),
            Require::DepartmentVacant(id) => {
                let (id, statuses) = (self.sql.id(id.to_bytes()), self.sql.present_statuses());
                let members = format!(
                    "SELECT 1 FROM employees WHERE tenant_id = {tenant} AND department_id = {id} \
                     AND status = ANY({statuses})"
                );
                self.expect(place, &format!("NOT EXISTS ({members})"));
            }
            Require::RowsBelow(RowLimit { table, most }) => {
                let most = self.sql.bind(SqlValue::Int(i64::from(most)));
                let organization = format!("SELECT 1 FROM organizations WHERE tenant_id = {tenant}");
                let count = format!("SELECT count(*) FROM {} WHERE tenant_id = {tenant}", table.name);
                self.expect(place, &format!("EXISTS ({organization}) AND ({count}) < {most}"));
            }
            Require::KeysBelow(keys, most) => {
                let count = valid_keys(&mut self.sql, &tenant, keys, most);
                let most = self.sql.bind(SqlValue::Int(i64::from(most)));
                let organization = format!("SELECT 1 FROM organizations WHERE tenant_id = {tenant}");
                self.expect(place, &format!("EXISTS ({organization}) AND {count} < {most}"));
            }
        }
    }

    /// Adds the condition that an expression over a row, such as its version, has the wanted value.
    fn compare(&mut self, place: i64, key: RowKey, expression: &'static str, wanted: i64) {
        self.rows.entry((key.table.name, expression)).or_default().push((place, key.id, wanted));
    }

    /// Adds the condition that an expression is true.
    fn expect(&mut self, place: i64, expression: &str) {
        let place = self.sql.bind(SqlValue::Int(place));
        self.places.push(format!("CASE WHEN {expression} THEN NULL ELSE {place}::bigint END"));
    }

    /// Binds the ids of rows and the positions of their conditions, as two arrays.
    fn bind_keys(&mut self, keys: &[(i64, [u8; 16])]) -> (String, String) {
        let ids = self.sql.ids(keys.iter().map(|(_, id)| *id));
        (ids, self.sql.many(Type::Int, keys.iter().map(|(place, _)| SqlValue::Int(*place))))
    }

    fn finish(mut self) -> Sql {
        let tenant = self.tenant.clone();
        // OFFSET 0: each row is looked up by its key, also before the server has statistics.
        for ((table, expression), entries) in std::mem::take(&mut self.rows) {
            let keys: Vec<_> = entries.iter().map(|(place, id, _)| (*place, *id)).collect();
            let (ids, at) = self.bind_keys(&keys);
            let wanted_values =
                self.sql.many(Type::Int, entries.iter().map(|(.., wanted)| SqlValue::Int(*wanted)));
            let row = format!(
                "SELECT {expression} FROM {table} AS t WHERE t.tenant_id = {tenant} AND t.id = w.id OFFSET 0"
            );
            self.places.push(format!(
                "(SELECT min(w.place) FROM UNNEST({ids}, {at}, {wanted_values}) AS w (id, place, wanted) \
                 WHERE coalesce(({row}), {MISSING}) <> w.wanted)"
            ));
        }
        for ((table, column), entries) in std::mem::take(&mut self.values) {
            let keys: Vec<_> = entries.iter().map(|(place, id, _)| (*place, *id)).collect();
            let (ids, at) = self.bind_keys(&keys);
            let kind = entries.first().map_or(Type::Text, |(.., value)| value.kind());
            let values = self.sql.many(kind, entries.into_iter().map(|(.., value)| value));
            let holder = format!(
                "SELECT t.id FROM {table} AS t WHERE t.tenant_id = {tenant} AND t.{column} = w.value OFFSET 0"
            );
            self.places.push(format!(
                "(SELECT min(w.place) FROM UNNEST({ids}, {at}, {values}) AS w (id, place, value) \
                 WHERE ({holder}) <> w.id)"
            ));
        }
        let places = self.places.join(", ");
        self.sql.push(&format!("SELECT least({places})"));
        self.sql
    }
}
