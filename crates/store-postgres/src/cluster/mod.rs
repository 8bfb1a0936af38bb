//! Code that only a Citus cluster needs: the layout of its tables, and the statements that differ from those of
//! one server.
//!
//! A cluster forwards a statement unchanged to the tenant's node if all rows that it names are of one tenant. So
//! each part of a change set is a statement of its own, in a form that the cluster need not plan. Work on all
//! tenants queries every node, then continues tenant by tenant. The position of an event is counted in a row of
//! its tenant, see [`feed`].

pub(crate) mod distribute;
mod feed;
mod reporting_lines;
mod secrets;
mod statements;
pub(crate) mod tables;

pub(crate) use tables::{LAYOUT, layout_of};

use candor_domain::access::Tenant;
use candor_domain::idempotency::Replay;
use candor_tables::AnyRow;
use candor_tables::RowWriteError;
use candor_tables::flat::{SqlValue, Table};

use crate::layout::idempotency::{self, IdempotencyKeyState};
use crate::layout::rows::Entry;
use crate::layout::{Address, ExpectedSubscribers, LateEvents, Layout, Statement};
use crate::sql::Sql;

pub(crate) use feed::SUBSCRIBED;

/// Layout with the tenants' tables distributed over nodes, as `candor migrate --distribute` creates it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cluster;

/// Maximum number of rows inserted as a `VALUES` list, which is forwarded to the tenant's node unchanged. Larger
/// inserts pass arrays through the contacted node, which costs less for many rows.
const MOST_VALUES: usize = 16;

impl Layout for Cluster {
    fn spans_tenants(&self) -> bool {
        false
    }

    fn runs_parts_in_order(&self) -> bool {
        true
    }

    /// Returns `false`: autovacuum on each node analyzes the shards of that node.
    fn needs_analyze(&self) -> bool {
        false
    }

    fn most_values(&self) -> usize {
        MOST_VALUES
    }

    fn most_member_values(&self) -> usize {
        MOST_VALUES
    }

    fn address(&self, key: &'static [&'static str]) -> Address {
        Address::Key(key)
    }

    fn finish(&self, statement: Statement, leases: bool) -> Vec<(Sql, bool)> {
        statements::split(statement, leases)
    }

    fn take_key(&self, statement: &mut Statement, replay: &Replay, expected: IdempotencyKeyState) {
        match expected {
            IdempotencyKeyState::New => self.take_keys(statement, &[replay]),
            IdempotencyKeyState::Any => {
                let key_row = idempotency::take_or_fail(&mut statement.sql, &statement.tenant, replay);
                statement.named_part("replay", "", &key_row);
            }
        }
    }

    /// Inserts the keys as new ones. Citus forwards such an insert unchanged; counting its rows would turn it into
    /// a plan of several steps at four times the cost. No lock timeout is set, because it would not reach the
    /// node.
    fn take_keys(&self, statement: &mut Statement, replays: &[&Replay]) {
        if !replays.is_empty() {
            let key_rows = idempotency::insert(&mut statement.sql, &statement.tenant, replays);
            statement.named_part("replay", "", &key_rows);
        }
    }

    fn split_off_events(&self, added: &mut Vec<AnyRow>) -> Vec<AnyRow> {
        feed::take_events(added)
    }

    fn event_statements(&self, tenant: Tenant, events: &LateEvents) -> Result<Vec<(Sql, bool)>, RowWriteError> {
        feed::statements(tenant, events)
    }

    fn name_secrets(&self, statement: &mut Statement, table: &Table, tenant: &str, rows: &[&Entry<'_>]) {
        secrets::name_tenant(statement, table, tenant, rows);
    }

    fn moved_lines(&self, tenant: Tenant, moved: &[[u8; 16]]) -> Vec<Sql> {
        reporting_lines::moved_lines(tenant, moved)
    }

    /// Returns [`ExpectedSubscribers::None`]: most tenants have no webhooks, and queueing deliveries takes a fifth
    /// of a commit's time. The function that increments the feed position fails if the assumption is wrong.
    fn expected_subscribers(&self) -> ExpectedSubscribers {
        ExpectedSubscribers::None
    }

    fn lease_settings(&self) -> &'static [&'static str] {
        &[]
    }

    fn record_settings(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the setting that applies the transaction's timeouts on the other nodes as well.
    fn partition_settings(&self) -> &'static [&'static str] {
        &["SET LOCAL citus.propagate_set_commands = 'local'"]
    }

    fn tenant_of_secret(&self, column: &str, hash: SqlValue) -> Option<Sql> {
        secrets::is_secret(column).then(|| secrets::tenant_of(hash))
    }

    /// Returns the maximum position: every committed event is settled, see [`feed`].
    fn feed_horizon(&self) -> &'static str {
        "SELECT 9223372036854775807::bigint"
    }

    fn feed_end(&self) -> &'static str {
        "SELECT coalesce(max(position), 0) FROM feed_positions"
    }

    fn fill_uncopied_tables_script(&self, feed_end: i64) -> Option<String> {
        Some(distribute::fill_uncopied_tables_script(feed_end))
    }

    fn refusal_of_replicas(&self) -> Option<&'static str> {
        Some("the tenants of this database are spread over a cluster, whose reads go to its nodes alone")
    }
}
