//! Commits of change sets: each holds whole or not at all.
//!
//! 1. **Build** ([`build`]): a change set becomes one statement, or one transaction of statements, in a variant that rests on
//!    assumptions about what is stored.
//! 2. **Execute** ([`execute`]): the transaction is sent, alone or shared with other change sets that wait ([`batcher`]).
//! 3. **Interpret** ([`interpret`]): a failure refutes an assumption, and the change set is built again in another variant;
//!    or it is the answer, such as a stale version, a broken requirement or a taken value.

mod analyze;
mod batcher;
mod build;
mod execute;
mod interpret;
mod subscribers;

use std::time::Instant;

use candor_domain::access::Tenant;
use candor_port_storage::{ChangeSet, CommitError, Committed};
use tokio::runtime::Handle;

use crate::layout::SharedLayout;
use crate::nodes::Nodes;
use crate::nodes::transaction::carried_out;
use batcher::Batcher;
use execute::Executor;

/// Commits change sets, in tasks on the runtime where the connections live: a caller who goes away does not stop a commit
/// half-way.
#[derive(Clone)]
pub(crate) struct Committer {
    executor: Executor,
    runtime: Handle,
    batcher: Batcher,
}

impl Committer {
    /// Creates a committer that sends its transactions to these servers.
    pub(crate) fn new(nodes: Nodes, runtime: Handle, layout: SharedLayout) -> Self {
        let executor = Executor::new(nodes, layout);
        Self { batcher: Batcher::new(executor.clone(), runtime.clone()), executor, runtime }
    }

    /// Commits a change set.
    pub(crate) async fn commit(&self, tenant: Tenant, change: ChangeSet) -> Result<Committed, CommitError> {
        if batcher::may_share(&change) {
            return self.batcher.commit(tenant, change).await;
        }
        let executor = self.executor.clone();
        carried_out(&self.runtime, async move { executor.commit_single(tenant, &change, Instant::now()).await }).await
    }
}
