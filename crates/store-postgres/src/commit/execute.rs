//! Execution of commits: a single change set, or a batch of change sets in one transaction.

use std::time::Instant;

use candor_domain::access::Tenant;
use candor_domain::idempotency::Replay;
use candor_port_storage::StorageError;
use candor_port_storage::{ChangeSet, CommitError, Committed};
use candor_tables::flat::CellReader;
use metrics::histogram;

use super::analyze::AnalyzeTrigger;
use super::build::{self, StatementVariant};
use super::interpret::{self, Interpretation};
use super::subscribers::SubscriberCache;
use crate::failure::Failure;
use crate::layout::SharedLayout;
use crate::layout::idempotency::replayed_keys;
use crate::layout::statement::{LeasedDelivery, read_leased};
use crate::nodes::Nodes;
use crate::nodes::transaction::{Transaction, TransactionOutcome, send, send_once};

/// Sends the transactions of commits. Clones share the caches.
#[derive(Clone)]
pub(super) struct Executor {
    nodes: Nodes,
    pub(super) layout: SharedLayout,
    subscribers: SubscriberCache,
    growth: AnalyzeTrigger,
}

impl Executor {
    pub(super) fn new(nodes: Nodes, layout: SharedLayout) -> Self {
        let subscribers = SubscriberCache::new(layout.expected_subscribers());
        Self { nodes, layout, subscribers, growth: AnalyzeTrigger::default() }
    }

    /// Number of servers that transactions go to.
    pub(super) fn servers(&self) -> usize {
        self.nodes.count()
    }

    /// Commits a change set in a transaction of its own. Each wrong assumption costs one more attempt.
    pub(super) async fn commit_single(
        &self,
        tenant: Tenant,
        change: &ChangeSet,
        begun: Instant,
    ) -> Result<Committed, CommitError> {
        let mut variant = StatementVariant::first(self.subscribers.expect(tenant));
        let result = loop {
            let statement = build::single(self.layout, variant, tenant, change);
            let (transaction, leases) = statement.map_err(StorageError::from)?;
            let read = |row: &mut dyn CellReader| if leases { read_leased(row) } else { Ok(None) };
            let result = send(&self.nodes, &transaction, read).await;
            match result.as_ref().err().map(|failure| interpret::refute(variant, failure)) {
                Some(Interpretation::TryAgain(next)) => variant = next,
                Some(Interpretation::Subscribed(next)) => {
                    self.subscribers.note(tenant);
                    variant = next;
                }
                Some(Interpretation::Final) | None => break result,
            }
        };
        record_duration(begun);
        if result.is_ok() {
            self.record_writes(change.writes.len()).await;
        }
        let to_commit = |leased: Vec<_>| Committed { leased: leased.into_iter().flatten().collect() };
        result.map(to_commit).map_err(|failure| interpret::map_failure(failure, &change.requires))
    }

    /// Sends the change sets of a batch as one transaction, once. Each statement holds the change sets of one
    /// tenant with one lease.
    pub(super) async fn send_batch(
        &self,
        statements: Vec<(Tenant, Vec<&ChangeSet>)>,
    ) -> TransactionOutcome<LeasedDelivery> {
        let batch_statements = statements
            .into_iter()
            .map(|(tenant, changes)| build::batch(self.layout, self.subscribers.expect(tenant), tenant, &changes));
        match batch_statements.collect::<Result<Vec<_>, _>>() {
            Ok(statements) => {
                let all = Transaction::from_marked(statements.into_iter().flatten().collect());
                send_once(&self.nodes, &all, read_leased).await
            }
            // The fallback commits each change set alone; only the unwritable one then fails.
            Err(unwritable) => TransactionOutcome::Undone(Failure::Other(unwritable.to_string())),
        }
    }

    /// Records that these tenants have subscriptions, if the failure says so.
    pub(super) fn note_subscribers(&self, failure: &Failure, tenants: impl Iterator<Item = Tenant>) {
        if interpret::is_subscribed(failure) {
            tenants.for_each(|tenant| self.subscribers.note(tenant));
        }
    }

    /// Reads the idempotency keys of a tenant that already have a replay; `None` if they cannot be read.
    pub(super) async fn replayed_keys(&self, tenant: Tenant, keys: &[&Replay]) -> Option<Vec<String>> {
        let query = Transaction::single_statement(replayed_keys(tenant, keys));
        let keys_result = send_once(&self.nodes, &query, |row| row.text().map_err(Failure::Other)).await;
        let TransactionOutcome::Done(keys_result) = keys_result else { return None };
        Some(keys_result.into_iter().flatten().collect())
    }

    /// Counts rows that were committed together, and triggers an ANALYZE of growing tables.
    pub(super) async fn record_writes(&self, rows: usize) {
        if self.layout.needs_analyze() {
            self.growth.record_writes(rows, &self.nodes).await;
        }
    }
}

/// Records the duration of a commit.
pub(super) fn record_duration(begun: Instant) {
    histogram!("candor_store_commit_seconds", "store" => "postgres").record(begun.elapsed().as_secs_f64());
}
