//! Layout of the database, and the statement forms that depend on it.
//!
//! Either every table is on one server, or the tables of tenants are distributed over the nodes of a cluster.
//! [`Layout`] has one implementation for each: [`OneServer`] here, and `Cluster` with all other code that only a
//! cluster needs.

pub(crate) mod address;
pub(crate) mod idempotency;
mod one_server;
pub(crate) mod rows;
pub(crate) mod statement;

use std::collections::BTreeSet;
use std::fmt::Debug;

use candor_domain::access::Tenant;
use candor_domain::idempotency::Replay;
use candor_tables::AnyRow;
use candor_tables::RowWriteError;
use candor_tables::flat::{SqlValue, Table};

pub(crate) use address::Address;
pub(crate) use one_server::OneServer;
pub(crate) use statement::Statement;

use crate::sql::Sql;
use idempotency::IdempotencyKeyState;
use rows::Entry;

/// Shared reference to a layout.
pub(crate) type SharedLayout = &'static dyn Layout;

/// Assumption of a change set about the subscriptions to its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpectedSubscribers {
    /// Subscriptions may exist; deliveries are queued for those that want the events.
    Any,
    /// No subscriptions exist; a check fails if this is wrong.
    None,
}

/// Events of a change set that are written after all other rows, with the assumption about their subscriptions.
pub(crate) struct LateEvents {
    pub(crate) rows: Vec<AnyRow>,
    /// Event types that no subscription is assumed to want, as bits.
    pub(crate) unwanted: i64,
    /// `true` if the change set writes subscriptions.
    pub(crate) changes_subscriptions: bool,
}

/// Differences between one server and a cluster in the statements of the store.
///
/// A cluster supports statements on one tenant, which it forwards unchanged to the tenant's node, and reads of all
/// nodes. No statement on a cluster may lock rows of several tenants.
pub(crate) trait Layout: Debug + Send + Sync {
    /// Returns `true` if one statement may lock and change rows of several tenants.
    fn spans_tenants(&self) -> bool;

    /// Returns `true` if each part of a change set sees the writes of the parts before it, because it is a
    /// statement of its own.
    fn runs_parts_in_order(&self) -> bool;

    /// Returns `true` if the store must analyze tables that have just begun to grow.
    fn needs_analyze(&self) -> bool;

    /// Maximum number of rows inserted as `VALUES` instead of arrays.
    fn most_values(&self) -> usize;

    /// Maximum number of members, such as tags, inserted as `VALUES` instead of arrays.
    fn most_member_values(&self) -> usize;

    /// Returns the columns by which a statement finds its locked rows again, given the key after the tenant.
    fn address(&self, key: &'static [&'static str]) -> Address;

    /// Builds the statements of a change set's parts and checks. The flag is `true` for a statement that returns
    /// the leased deliveries.
    fn finish(&self, statement: Statement, leases: bool) -> Vec<(Sql, bool)>;

    /// Takes the idempotency key of a change set that is committed alone, before its other parts. Waits for a
    /// concurrent commit with the same key.
    fn take_key(&self, statement: &mut Statement, replay: &Replay, expected: IdempotencyKeyState);

    /// Takes the idempotency keys of several change sets, in the order of the keys. On one server, also sets a short lock
    /// timeout, because a batch locks rows in an order that other transactions do not follow.
    fn take_keys(&self, statement: &mut Statement, replays: &[&Replay]);

    /// Takes the events out of the rows to add and returns them, if [`Layout::event_statements`] writes them last.
    fn split_off_events(&self, added: &mut Vec<AnyRow>) -> Vec<AnyRow>;

    /// Builds the statements that come last in the transaction of a change set. Each flag is `true` if the rows of
    /// its statement belong to the result.
    ///
    /// # Errors
    /// [`RowWriteError`] for an event that cannot be stored.
    fn event_statements(&self, tenant: Tenant, events: &LateEvents) -> Result<Vec<(Sql, bool)>, RowWriteError>;

    /// Records the tenant of each secret in written rows, if lookups by secret need it.
    fn name_secrets(&self, statement: &mut Statement, table: &Table, tenant: &str, rows: &[&Entry<'_>]);

    /// Builds the statements that update the closure of the reporting tree below people with a new manager.
    fn moved_lines(&self, tenant: Tenant, moved: &[[u8; 16]]) -> Vec<Sql>;

    /// Assumption about the subscriptions of a tenant that is not in the cache.
    fn expected_subscribers(&self) -> ExpectedSubscribers;

    /// Settings of a transaction that leases deliveries or mails.
    fn lease_settings(&self) -> &'static [&'static str];

    /// Settings of a transaction that records the results of deliveries.
    fn record_settings(&self) -> &'static [&'static str];

    /// Settings of a transaction that changes the partitions of the log.
    fn partition_settings(&self) -> &'static [&'static str];

    /// Query for the tenant of the row with this value in a column. `None` unless the column holds the hash of a
    /// secret and the hash alone cannot find the row.
    fn tenant_of_secret(&self, column: &str, hash: SqlValue) -> Option<Sql>;

    /// Query for the first feed position that is not settled yet.
    fn feed_horizon(&self) -> &'static str;

    /// Query for the last feed position that an event can have.
    fn feed_end(&self) -> &'static str;

    /// Script that fills the tables not included in a copy, given the last feed position of the source. `None` if a
    /// copy includes every table.
    fn fill_uncopied_tables_script(&self, feed_end: i64) -> Option<String>;

    /// Reason to refuse reads from a standby; `None` if such reads are supported.
    fn refusal_of_replicas(&self) -> Option<&'static str>;
}

impl dyn Layout {
    /// Splits work on rows of several tenants into statements: `None` stands for all tenants in one statement.
    pub(crate) fn scopes(&self, tenants: impl IntoIterator<Item = Tenant>) -> Vec<Option<Tenant>> {
        if self.spans_tenants() {
            return vec![None];
        }
        let ids: BTreeSet<_> = tenants.into_iter().map(|tenant| tenant.to_bytes()).collect();
        ids.into_iter().map(|id| Some(Tenant::from_bytes(id))).collect()
    }

    /// Clause that makes a statement over all tenants skip rows locked by another instance. Empty if the layout
    /// does not allow such locks.
    pub(crate) fn skip_locked(&self) -> &'static str {
        if self.spans_tenants() { " FOR UPDATE SKIP LOCKED" } else { "" }
    }
}
