//! Builder for the statement of a change set: parts, each of which is one write, and checks.
//!
//! On one server the parts become the CTEs of one statement and see the same state. The final `SELECT` evaluates
//! the checks. A failing check casts its name to a number: the statement fails as a whole, and the server's
//! message quotes the name. On a cluster each part becomes a separate statement with its checks, see
//! [`Layout::finish`].

use candor_domain::access::Tenant;
use candor_domain::id::{EventId, Id, WebhookId};
use candor_tables::flat::CellReader;

use super::{Layout, SharedLayout};
use crate::failure::{CHECK_PREFIX, Failure};
use crate::sql::Sql;

/// A part or a check. Items stay in the order in which they were added.
pub(crate) enum Item {
    /// A CTE: its name, the keywords between `AS` and the query, and the query.
    Part { name: String, form: &'static str, text: String },
    /// An expression that fails if its condition is false.
    Check(String),
}

/// A statement under construction.
pub(crate) struct Statement {
    /// The bound parameters. [`Layout::finish`] adds the text of the statement.
    pub(crate) sql: Sql,
    /// Placeholder of the tenant.
    pub(crate) tenant: String,
    pub(crate) layout: SharedLayout,
    pub(super) items: Vec<Item>,
    /// `true` if later parts must read from the part `go`, see [`Statement::gate`].
    pub(super) is_gated: bool,
    /// Names of the parts that queue deliveries.
    pub(crate) queued: Vec<String>,
}

impl Statement {
    /// Creates a statement without parts for rows of a tenant.
    pub(crate) fn new(layout: SharedLayout, tenant: Tenant) -> Self {
        let mut sql = Sql::default();
        let tenant = sql.tenant(tenant);
        Self { sql, tenant, layout, items: vec![], is_gated: false, queued: vec![] }
    }

    /// Adds a part and returns its name.
    pub(crate) fn part(&mut self, text: &str) -> String {
        self.numbered_part("", text)
    }

    /// Adds a part that the database evaluates once, before the parts that name it, and returns its name.
    pub(crate) fn materialized_part(&mut self, text: &str) -> String {
        self.numbered_part("MATERIALIZED ", text)
    }

    fn numbered_part(&mut self, form: &'static str, text: &str) -> String {
        let parts = self.items.iter().filter(|item| matches!(item, Item::Part { .. })).count();
        let name = format!("p{parts}");
        self.named_part(&name, form, text);
        name
    }

    /// Adds a part under a name.
    pub(crate) fn named_part(&mut self, name: &str, form: &'static str, text: &str) {
        self.items.push(Item::Part { name: name.to_owned(), form, text: text.to_owned() });
    }

    /// Adds a check: if the condition is false, the statement fails with the name.
    pub(crate) fn check(&mut self, condition: &str, name: &str) {
        self.add_check(assert_sql(condition, name));
    }

    /// Adds an expression that fails if its own condition is false.
    pub(crate) fn add_check(&mut self, expression: String) {
        self.items.push(Item::Check(expression));
    }

    /// Source of an `INSERT`, given the values of each row. In a gated statement a single row waits for the
    /// idempotency key; many rows are inserted from arrays instead, see [`Layout::most_values`].
    pub(crate) fn rows(&self, rows: &[String]) -> String {
        match rows {
            [values] if self.is_gated => format!("SELECT {values} {}", self.source_clause("")),
            rows => format!("VALUES ({})", rows.join("), (")),
        }
    }

    /// Returns the `FROM` clause of a part. In a gated statement the part waits for the idempotency key, so that a
    /// retry gets its replay before any other error. `sources` are the further tables that the part reads.
    pub(crate) fn source_clause(&self, sources: &str) -> String {
        match (sources, self.is_gated) {
            ("", false) => String::new(),
            ("", true) => "FROM go".to_owned(),
            (sources, false) => format!("FROM {sources}"),
            (sources, true) => format!("FROM go, {sources}"),
        }
    }

    /// `USING` clause of a `DELETE`, which in a gated statement waits for the idempotency key. Otherwise empty.
    pub(crate) fn using_clause(&self) -> &'static str {
        if self.is_gated { "USING go" } else { "" }
    }

    /// Makes all later parts wait for the expression. If it fails, the statement fails: for example if another
    /// request has used an idempotency key of this commit.
    pub(super) fn gate(&mut self, expression: &str) {
        self.named_part("go", "MATERIALIZED ", &format!("SELECT {expression} AS ok"));
        self.add_check("(SELECT ok FROM go)".to_owned());
        self.is_gated = true;
    }

    /// Builds the statements. The flag is `true` for a statement that returns leased deliveries; if `leases` is
    /// `false`, no statement does.
    pub(crate) fn finish(self, leases: bool) -> Vec<(Sql, bool)> {
        let layout: &dyn Layout = self.layout;
        layout.finish(self, leases)
    }

    /// Returns the parameters, the items in their order, and the names of the parts that queue deliveries.
    pub(crate) fn into_parts(self) -> (Sql, Vec<Item>, Vec<String>) {
        (self.sql, self.items, self.queued)
    }
}

/// Expression that fails with a name if the condition is false. Both branches are texts that are cast at run time:
/// the planner would evaluate a constant and fail early.
pub(crate) fn assert_sql(condition: &str, name: &str) -> String {
    format!("(CASE WHEN {condition} THEN '1'::text ELSE '{CHECK_PREFIX}{name}'::text END)::int")
}

/// Key of a leased delivery; `None` in a row that only carries checks.
pub(crate) type LeasedDelivery = Option<(WebhookId, EventId)>;

/// Final `SELECT` that returns the deliveries queued by these parts. It has at least one row, so that the checks
/// are always evaluated.
pub(crate) fn select_leased(checks: &str, queued: &[String]) -> String {
    if queued.is_empty() {
        return format!("SELECT NULL::uuid, NULL::uuid, {checks}");
    }
    let rows: Vec<_> = queued.iter().map(|part| format!("SELECT webhook_id, event_id FROM {part}")).collect();
    let rows = rows.join(" UNION ALL ");
    format!("SELECT j.webhook_id, j.event_id, {checks} FROM (SELECT 1) AS one LEFT JOIN ({rows}) AS j ON true")
}

/// Reads a row of [`select_leased`].
pub(crate) fn read_leased(row: &mut dyn CellReader) -> Result<LeasedDelivery, Failure> {
    let webhook = row.id().map_err(Failure::Other)?;
    let event = row.id().map_err(Failure::Other)?;
    Ok(webhook.zip(event).map(|(webhook, event)| (Id::from_bytes(webhook), Id::from_bytes(event))))
}
