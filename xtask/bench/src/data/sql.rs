//! The statements that insert the rows. Both stores have the same statements, except for the notation of values.

use super::{
    BRANCHES, DAYS, FIRST_DAY, FIRST_NUMBER, MILLIS_PER_DAY, NUMBER_STEP, OBSERVATIONS, PEOPLE, Series, Size,
};
use crate::store::Store;
use candor_domain::id::AttributeId;

/// Source of texts of 120 and 400 characters, which start at different characters.
const WORDS: &str = "She kept the whole team informed while the migration was running and wrote down every \
decision with its reasons so that nobody had to ask twice. When the first attempt failed she stayed calm and \
found the cause in the logs and proposed a smaller step that we could take on the same day. People from two other \
teams told me afterwards how much they had learned from the way she explained the trade between speed and safety. \
Next time she could hand over earlier because the last evening was long and some of the work could have been \
shared with the colleagues who had offered their help.";

/// Notation of values in SQL.
impl Store {
    /// Returns a literal of 16 bytes.
    pub(crate) fn bytes(self, bytes: [u8; 16]) -> String {
        let hex = hex(&bytes);
        self.pick(format!("'{hex}'::uuid"), format!("X'{hex}'"))
    }

    pub(super) fn ids(self, ids: &[AttributeId]) -> String {
        let each: Vec<String> = ids.iter().map(|id| hex(&id.to_bytes())).collect();
        self.pick(format!("'{{{}}}'::uuid[]", each.join(",")), format!("X'{}'", each.concat()))
    }

    /// Returns the expression for the id of a row. `index` is the expression for the index of the row.
    pub(crate) fn id(self, series: Series, index: &str) -> String {
        let Series { before, after } = series;
        let digits = format!("'{before}' || ({FIRST_NUMBER} + {NUMBER_STEP} * ({index})) || '{after}'");
        self.pick(format!("({digits})::uuid"), format!("unhex({digits})"))
    }

    pub(crate) fn time(self, millis: &str) -> String {
        self.pick(format!("to_timestamp(({millis}) / 1000.0)"), format!("({millis})"))
    }

    pub(crate) fn date(self, days: &str) -> String {
        self.pick(format!("(date '1970-01-01' + ({days})::int)"), format!("({days})"))
    }

    pub(crate) fn minutes_ago(self, minutes: u32) -> String {
        self.pick(
            format!("now() - interval '{minutes} minutes'"),
            format!("(unixepoch() - 60 * {minutes}) * 1000"),
        )
    }

    pub(super) fn no(self) -> &'static str {
        self.pick("false", "0")
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a common table expression `n` with the numbers `k` from 0 to `count - 1`.
pub(crate) fn numbers(count: u32) -> String {
    format!("WITH RECURSIVE n(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM n WHERE k < {})", count - 1)
}

/// The rows of one tenant.
#[derive(Debug, Clone)]
pub(super) struct Rows<'a> {
    pub(super) store: Store,
    pub(super) size: Size,
    pub(super) tenant: [u8; 16],
    pub(super) attributes: &'a [AttributeId],
}

impl Rows<'_> {
    /// Returns all statements in the order in which they must run.
    pub(super) fn statements(&self) -> Vec<String> {
        vec![self.people(), self.tree(), self.lines(), self.observations(), self.tags()]
    }

    fn people(&self) -> String {
        let Self { store, size, tenant, .. } = self;
        let (tenant, id) = (store.bytes(*tenant), store.id(PEOPLE, "k"));
        let manager = store.id(PEOPLE, &manager("k"));
        let created_at = store.time(&format!("{} + k", u64::from(FIRST_DAY - 1) * MILLIS_PER_DAY));
        format!(
            "INSERT INTO employees (tenant_id, id, email, first_name, last_name, role, manager_id, status, \
             custom_fields, hris_source, created_at, updated_at, email_key, first_name_key, last_name_key, version) {} \
             SELECT {tenant}, {id}, 'Person' || k || '@example.com', 'First' || (k % 997), 'Last' || (k % 9973), \
             'employee', CASE WHEN k = 0 THEN NULL ELSE {manager} END, 'active', '{{}}', 'manual', {created_at}, {created_at}, \
             'person' || k || '@example.com', 'first' || (k % 997), 'last' || (k % 9973), 1 FROM n",
            numbers(size.people)
        )
    }

    fn tree(&self) -> String {
        format!(
            "INSERT INTO reporting_trees (tenant_id, version, changes) VALUES ({}, 1, 1)",
            self.store.bytes(self.tenant)
        )
    }

    fn lines(&self) -> String {
        let Self { store, size, tenant, .. } = self;
        let (ancestor, descendant) = (store.id(PEOPLE, "a"), store.id(PEOPLE, "d"));
        format!(
            "INSERT INTO reporting_lines (tenant_id, ancestor_id, descendant_id, depth) {}, \
             up(a, d, depth) AS (SELECT {}, k, 1 FROM n WHERE k > 0 \
             UNION ALL SELECT {}, d, depth + 1 FROM up WHERE a > 0) \
             SELECT {}, {ancestor}, {descendant}, depth FROM up ORDER BY a, d",
            numbers(size.people),
            manager("k"),
            manager("a"),
            store.bytes(*tenant),
        )
    }

    /// Returns the expression for the index of the person of observation `k`: pseudo-random, and equal on both
    /// stores.
    fn about(&self) -> String {
        let mixed_number = "((k * CAST(1103515245 AS bigint) + 12345) % 2147483648)";
        format!("(({mixed_number} % 65521 * 40503 + {mixed_number} / 65521) % {})", self.size.people)
    }

    fn observations(&self) -> String {
        let Self { store, size, tenant, .. } = self;
        let (tenant, id) = (store.bytes(*tenant), store.id(OBSERVATIONS, "k"));
        let day = format!("{FIRST_DAY} + k / {} - k % 7", size.per_day());
        let step = MILLIS_PER_DAY * u64::from(DAYS) / u64::from(size.observations);
        let created_at =
            store.time(&format!("{} + k * CAST({step} AS bigint)", u64::from(FIRST_DAY) * MILLIS_PER_DAY));
        format!(
            "INSERT INTO observations (tenant_id, id, employee_id, type, observation, impact, attribute_ids, \
             observation_date, created_at, updated_at, archived, version) {} \
             SELECT {tenant}, {id}, {}, CASE WHEN k % 3 = 0 THEN 'opportunity' ELSE 'strength' END, \
             substr('{WORDS}', 1 + k % 90, 400), CASE WHEN k % 3 = 0 THEN \
             substr('{WORDS}', 1 + k % 300, 120) END, {}, {}, {created_at}, {created_at}, {}, 1 FROM n",
            numbers(size.observations),
            store.id(PEOPLE, &self.about()),
            self.attribute(|id| store.ids(&[id])),
            store.date(&day),
            store.no(),
        )
    }

    /// Returns the statement that inserts the attributes of observations as rows.
    fn tags(&self) -> String {
        let Self { store, size, tenant, .. } = self;
        format!(
            "INSERT INTO observation_attributes (tenant_id, attribute_id, observation_id) {}, \
             m AS (SELECT k, {} AS attribute FROM n) SELECT {}, attribute, {} FROM m ORDER BY attribute, k",
            numbers(size.observations),
            self.attribute(|id| store.bytes(id.to_bytes())),
            store.bytes(*tenant),
            store.id(OBSERVATIONS, "k"),
        )
    }

    /// Returns the expression for the attribute of observation `k`. `value` writes an attribute in SQL.
    fn attribute(&self, value: impl Fn(AttributeId) -> String) -> String {
        let whens =
            self.attributes.iter().zip(0..).map(|(id, number)| format!(" WHEN {number} THEN {}", value(*id)));
        format!("CASE k % {}{} END", self.attributes.len(), whens.collect::<String>())
    }
}

/// Returns the expression for the index of a person's manager. `person` is the expression for the person's index.
fn manager(person: &str) -> String {
    format!("(({person} - 1) / {BRANCHES})")
}

const _: () = assert!(WORDS.len() >= 90 + 400);
