//! Saving a change set: one statement, or one transaction of statements, that holds whole or not at all. Several may share one.

mod analyze;
mod audience;
mod batcher;
mod changes;
mod closure;
mod group;
mod requires;
mod statement;
mod webhooks;

use std::time::Instant;

use candor_domain::access::Tenant;
use candor_port_storage::StorageError;
use candor_port_storage::{ChangeSet, CommitError, Committed, Require};
use metrics::histogram;
use tokio::runtime::Handle;

use analyze::Growth;
use audience::Audiences;
use batcher::Batcher;
use changes::Form;
use statement::Key;

pub(crate) use statement::{keep as keeping, raise};
pub(crate) use webhooks::SUBSCRIBED;

use crate::connection::transaction::{carried_out, send};
use crate::failure::Failure;
use crate::layout::Layout;
use crate::nodes::Nodes;

/// Saves change sets.
#[derive(Clone)]
pub(crate) struct Committer {
    target: Target,
    home: Handle,
    batcher: Batcher,
}

/// Where change sets are saved, and in what form.
#[derive(Clone)]
struct Target {
    nodes: Nodes,
    layout: Layout,
    audiences: Audiences,
    growth: Growth,
}

impl Committer {
    /// Saves on the servers, in tasks on the runtime where the connections to them live.
    pub(crate) fn new(nodes: Nodes, home: Handle, layout: Layout) -> Self {
        let target = Target { nodes, layout, audiences: Audiences::new(), growth: Growth::default() };
        Self { batcher: Batcher::new(target.clone(), home.clone()), target, home }
    }

    /// Saves a change set, in a task of its own: a caller who goes away does not stop it half-way.
    pub(crate) async fn commit(&self, tenant: Tenant, change: ChangeSet) -> Result<Committed, CommitError> {
        if batcher::may_share(&change) {
            return self.batcher.wait_for_one(tenant, change).await;
        }
        let target = self.target.clone();
        carried_out(&self.home, async move { alone(&target, tenant, &change, Instant::now()).await }).await
    }
}

/// Saves a change set in a transaction of its own.
async fn alone(target: &Target, tenant: Tenant, change: &ChangeSet, begun: Instant) -> Result<Committed, CommitError> {
    let mut form = Form { layout: target.layout, audience: target.audiences.of(target.layout, tenant), key: Key::New };
    let mut saved = saved(target, form, tenant, change).await?;
    while let Some(other) = saved.as_ref().err().and_then(|it| form.after(it)) {
        if other.audience != form.audience {
            target.audiences.found(tenant);
        }
        form = other;
        saved = self::saved(target, form, tenant, change).await?;
    }
    took(begun);
    if saved.is_ok() {
        target.wrote(change.writes.len()).await;
    }
    let committed = |leased: Vec<_>| Committed { leased: leased.into_iter().flatten().collect() };
    saved.map(committed).map_err(|it| answer(it, &change.requires))
}

impl Target {
    /// Counts rows that were saved together.
    async fn wrote(&self, rows: usize) {
        // A cluster's nodes look at their parts of the tables by themselves.
        if !self.layout.is_by_tenant() {
            self.growth.wrote(rows, &self.nodes).await;
        }
    }
}

/// What becomes of a change set's transaction.
async fn saved(
    target: &Target,
    form: Form,
    tenant: Tenant,
    change: &ChangeSet,
) -> Result<Result<Vec<webhooks::Leased>, Failure>, StorageError> {
    let (transaction, leases) = changes::transaction(form, tenant, change)?;
    Ok(send(&target.nodes, &transaction, |row| if leases { webhooks::leased(row) } else { Ok(None) }).await)
}

fn took(begun: Instant) {
    histogram!("candor_store_commit_seconds", "store" => "postgres").record(begun.elapsed().as_secs_f64());
}

/// What the words of our checks mean.
fn answer(failure: Failure, requires: &[Require]) -> CommitError {
    let Failure::Check(word) = failure else { return failure.into_commit() };
    let broken = word.strip_prefix(requires::WORD).and_then(|it| it.parse::<usize>().ok());
    match (word.as_str(), broken.and_then(|it| requires.get(it))) {
        (statement::STALE, _) => CommitError::Stale,
        (statement::REPLAYED, _) => CommitError::Replayed,
        (_, Some(require)) => CommitError::Broken(*require),
        (_, None) => Failure::Check(word).into_commit(),
    }
}
