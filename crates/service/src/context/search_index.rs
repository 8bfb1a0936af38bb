//! The state of the search index in this process, and whether a search may rely on it.

use std::sync::atomic::{AtomicBool, Ordering};

use candor_domain::access::Tenant;
use candor_domain::objective::Objective;
use candor_domain::observation::Observation;
use candor_domain::people::Employee;
use candor_domain::search::Type;
use candor_domain::summary::Summary;
use candor_port_storage::search_index::Backlog;
use candor_tables::flat::Stored;

use crate::context::error::Error;
use crate::context::search_cache::IndexCache;
use crate::context::services::Services;

/// Where so many rows wait to be indexed, a search would take too long. An upload of the largest size does not make it so.
pub(crate) const MOST_WAITING: u16 = 30_000;
/// Tables that are looked at together.
pub(crate) const TABLES: u16 = 100;

/// What this process knows of the index of words.
#[derive(Debug, Default)]
pub(crate) struct SearchIndex {
    /// Whether everything is in it that was there before it. That stays so, as whatever is written is in it at once, unless
    /// an operator has all indexed once more, which the workers see.
    is_complete: AtomicBool,
    /// What searches have read of it.
    pub(crate) cache: IndexCache,
}

impl SearchIndex {
    /// Requires that everything of a tenant is in the index that is to be searched.
    ///
    /// # Errors
    /// [`Error::NotIndexed`]; those of the store.
    pub(crate) async fn require_complete(
        &self,
        services: &Services,
        tenant: Tenant,
        types: &[Type],
    ) -> Result<(), Error> {
        if self.is_complete.load(Ordering::Relaxed) || self.is_filled(services).await? {
            return Ok(());
        }
        let left = services.store.index_backlog(Some(tenant), TABLES).await?;
        let is_asked = |backlog: &Backlog| types.iter().any(|kind| table(*kind) == backlog.table);
        if left.iter().any(is_asked) { Err(Error::NotIndexed) } else { Ok(()) }
    }

    /// Records whether the index has everything that was stored before it.
    pub(crate) fn set_complete(&self, is_complete: bool) {
        self.is_complete.store(is_complete, Ordering::Relaxed);
    }

    async fn is_filled(&self, services: &Services) -> Result<bool, Error> {
        let is_filled = services.store.index_backlog(None, 1).await?.is_empty();
        self.set_complete(is_filled);
        Ok(is_filled)
    }
}

/// The table of a type.
pub(crate) const fn table(kind: Type) -> &'static str {
    match kind {
        Type::Observations => Observation::TABLE.name,
        Type::Objectives => Objective::TABLE.name,
        Type::Employees => Employee::TABLE.name,
        Type::Summaries => Summary::TABLE.name,
    }
}
