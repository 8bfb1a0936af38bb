//! Commits of change sets, each as one statement or transaction: build, execute, interpret.
//!
//! 1. **Build** ([`build`]): a change set becomes one statement, or one transaction of statements. Its variant
//!    rests on assumptions about the stored data.
//! 2. **Execute** ([`execute`]): the transaction is sent, alone or shared with other waiting change sets
//!    ([`batcher`]).
//! 3. **Interpret** ([`interpret`]): if the failure refutes an assumption, the change set is built again in
//!    another variant. Otherwise the failure is the result, such as a stale version, a broken requirement or a
//!    taken value.

mod analyze;
mod batcher;
mod build;
pub(crate) mod check;
mod execute;
mod interpret;
mod subscribers;

use std::time::Instant;

use candor_domain::access::Tenant;
use candor_port_storage::{ChangeSet, CommitError, Committed};
use tokio::runtime::Handle;

use crate::layout::SharedLayout;
use crate::nodes::Nodes;
use crate::nodes::transaction::run_to_completion;
use batcher::Batcher;
use execute::Executor;

/// Commits change sets in tasks on the runtime of the connections, so that a caller that goes away cannot
/// interrupt a commit.
#[derive(Clone)]
pub(crate) struct Committer {
    executor: Executor,
    runtime: Handle,
    batcher: Batcher,
}

impl Committer {
    /// Creates a committer that sends its transactions to `nodes`.
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
        run_to_completion(
            &self.runtime,
            async move { executor.commit_single(tenant, &change, Instant::now()).await },
        )
        .await
    }
}
