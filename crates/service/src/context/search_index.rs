//! State of the search index in this process, and the check whether searches may rely on it.

use std::sync::atomic::{AtomicBool, Ordering};

use candor_domain::access::Tenant;
use candor_domain::objective::Objective;
use candor_domain::observation::Observation;
use candor_domain::people::Employee;
use candor_domain::search::Type;
use candor_domain::summary::Summary;
use candor_port_storage::search_index::UnindexedTable;
use candor_tables::flat::Stored;

use crate::context::error::Error;
use crate::context::search_cache::IndexCache;
use crate::context::services::Services;

/// Number of pending rows from which searches are refused, because reading them would take too long. An upload
/// of the largest size stays below it.
pub(crate) const MOST_WAITING: u16 = 30_000;
/// Maximum number of tables per backlog query.
pub(crate) const TABLES: u16 = 100;

/// State of the search index, as known to this process.
#[derive(Debug, Default)]
pub(crate) struct SearchIndex {
    /// `true` if the backlog of older rows is indexed. New rows do not change it: their writes record them as
    /// pending, and searches read pending rows. A rebuild by an operator resets it once the workers notice.
    is_complete: AtomicBool,
    /// Cached blocks and keys of the index.
    pub(crate) cache: IndexCache,
}

impl SearchIndex {
    /// Requires that all rows of a tenant with these types are indexed.
    ///
    /// # Errors
    /// [`Error::NotIndexed`]; errors of the store.
    pub(crate) async fn require_complete(
        &self,
        services: &Services,
        tenant: Tenant,
        types: &[Type],
    ) -> Result<(), Error> {
        if self.is_complete.load(Ordering::Relaxed) || self.is_filled(services).await? {
            return Ok(());
        }
        let unindexed_tables = services.store.index_backlog(Some(tenant), TABLES).await?;
        let is_asked = |backlog: &UnindexedTable| types.iter().any(|kind| table(*kind) == backlog.table);
        if unindexed_tables.iter().any(is_asked) { Err(Error::NotIndexed) } else { Ok(()) }
    }

    /// Records whether the backlog of older rows is indexed.
    pub(crate) fn set_complete(&self, is_complete: bool) {
        self.is_complete.store(is_complete, Ordering::Relaxed);
    }

    async fn is_filled(&self, services: &Services) -> Result<bool, Error> {
        let is_filled = services.store.index_backlog(None, 1).await?.is_empty();
        self.set_complete(is_filled);
        Ok(is_filled)
    }
}

/// Returns the name of the table that stores a type.
pub(crate) const fn table(kind: Type) -> &'static str {
    match kind {
        Type::Observations => Observation::TABLE.name,
        Type::Objectives => Objective::TABLE.name,
        Type::Employees => Employee::TABLE.name,
        Type::Summaries => Summary::TABLE.name,
    }
}
