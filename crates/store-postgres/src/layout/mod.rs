//! Layout of the database, and the forms of statements that depend on it.
//!
//! Every table is on one server, or the tables of tenants are distributed over the nodes of a cluster. [`Layout`] has one
//! implementation for each: [`OneServer`] here, and the one of a cluster beside everything else that only a cluster needs.

pub(crate) mod address;
pub(crate) mod idempotency;
mod one_server;
pub(crate) mod rows;
pub(crate) mod statement;

use std::collections::BTreeSet;
use std::fmt::Debug;

use candor_domain::access::Tenant;
use candor_domain::idempotency::IdempotencyRecord;
use candor_tables::AnyRow;
use candor_tables::Unwritable;
use candor_tables::flat::{Cell, Table};

pub(crate) use address::Address;
pub(crate) use one_server::OneServer;
pub(crate) use statement::Statement;

use crate::sql::Sql;
use idempotency::IdempotencyKeyState;
use rows::Entry;

/// A layout as the parts of a store share it.
pub(crate) type SharedLayout = &'static dyn Layout;

/// Assumption of a change set about the subscriptions to its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpectedSubscribers {
    /// There may be subscriptions: deliveries are queued for those that want the events.
    Any,
    /// There are none; the statements fail with a check where one is.
    None,
}

/// Events of a change set that are written behind all other rows, and what is assumed of their subscriptions.
pub(crate) struct LateEvents {
    pub(crate) rows: Vec<AnyRow>,
    /// Types of events that no subscription is assumed to want, as bits.
    pub(crate) unwanted: i64,
    /// Whether the change set writes subscriptions.
    pub(crate) changes_subscriptions: bool,
}

/// Differences between one server and a cluster in the statements of the store.
///
/// A cluster supports a statement that concerns one tenant, which it hands to the tenant's node as it came, and reads of
/// all nodes; no statement of it locks rows of several tenants.
pub(crate) trait Layout: Debug + Send + Sync {
    /// Returns `true` if one statement may lock and change rows of several tenants.
    fn spans_tenants(&self) -> bool;

    /// Returns `true` if each part of a change set sees the writes of the parts before it, because it is a statement of
    /// its own.
    fn runs_parts_in_order(&self) -> bool;

    /// Returns `true` if the store must have tables analyzed that have just begun to grow.
    fn needs_analyze(&self) -> bool;

    /// Greatest number of rows that are inserted as VALUES instead of as arrays.
    fn most_values(&self) -> usize;

    /// Greatest number of members, such as tags, that are inserted as VALUES instead of as arrays.
    fn most_member_values(&self) -> usize;

    /// Columns by which a statement finds again the rows that it has locked, given the key behind the tenant.
    fn address(&self, key: &'static [&'static str]) -> Address;

    /// Writes the statements of a change set's parts and checks, each with whether it returns the leased deliveries.
    fn finish(&self, statement: Statement, leases: bool) -> Vec<(Sql, bool)>;

    /// Takes the idempotency key of a change set that is committed alone, before anything else of it. A commit with the same
    /// key that is under way is waited for.
    fn take_key(&self, statement: &mut Statement, replay: &IdempotencyRecord, expected: IdempotencyKeyState);

    /// Takes the idempotency keys of several change sets, in the order of the keys. Locks of other transactions are waited
    /// for only briefly, because a batch locks rows in an order that they do not keep to.
    fn take_keys(&self, statement: &mut Statement, replays: &[&IdempotencyRecord]);

    /// Removes the events from the rows to add where they are written behind the others, by [`Layout::late_statements`].
    fn late_events(&self, added: &mut Vec<AnyRow>) -> Vec<AnyRow>;

    /// Writes the statements that come last in the transaction of a change set.
    ///
    /// # Errors
    /// [`Unwritable`] for an event that cannot be stored.
    fn late_statements(&self, tenant: Tenant, events: &LateEvents) -> Result<Vec<(Sql, bool)>, Unwritable>;

    /// Names the tenant of each secret in written rows, where a lookup by the secret needs that.
    fn name_secrets(&self, statement: &mut Statement, table: &Table, tenant: &str, rows: &[&Entry<'_>]);

    /// Writes the statements that update the closure of the reporting tree below people with a new manager.
    fn moved_lines(&self, tenant: Tenant, moved: &[[u8; 16]]) -> Vec<Sql>;

    /// Assumption about the subscriptions of a tenant of which nothing is known yet.
    fn expected_subscribers(&self) -> ExpectedSubscribers;

    /// Settings of a transaction that leases deliveries or mails.
    fn lease_settings(&self) -> &'static [&'static str];

    /// Settings of a transaction that records the results of deliveries.
    fn record_settings(&self) -> &'static [&'static str];

    /// Settings under which a transaction changes the partitions of the log.
    fn partition_settings(&self) -> &'static [&'static str];

    /// Statement that finds the tenant of the row with this value in a column, where the column has the hash of a secret and
    /// the row is not found by the hash alone.
    fn tenant_of_secret(&self, column: &str, hash: Cell) -> Option<Sql>;

    /// Expression with the first position in the feed that is not settled yet.
    fn feed_horizon(&self) -> &'static str;

    /// Query for the last position in the feed that an event can have.
    fn feed_end(&self) -> &'static str;

    /// Script that fills the tables which a copy does not bring, given the last position in the feed of the source.
    fn copied_tables(&self, feed_end: i64) -> Option<String>;

    /// Reason why reads cannot be sent to a standby.
    fn refusal_of_replicas(&self) -> Option<&'static str>;
}

impl dyn Layout {
    /// Parts of work on rows of several tenants that are done by one statement each: `None` stands for all tenants.
    pub(crate) fn scopes(&self, tenants: impl IntoIterator<Item = Tenant>) -> Vec<Option<Tenant>> {
        if self.spans_tenants() {
            return vec![None];
        }
        let ids: BTreeSet<_> = tenants.into_iter().map(|tenant| tenant.to_bytes()).collect();
        ids.into_iter().map(|id| Some(Tenant::from_bytes(id))).collect()
    }

    /// Clause that makes a statement over all tenants skip rows that another instance has locked. Empty where no statement
    /// locks rows of several nodes.
    pub(crate) fn skip_locked(&self) -> &'static str {
        if self.spans_tenants() { " FOR UPDATE SKIP LOCKED" } else { "" }
    }
}
