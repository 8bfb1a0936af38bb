//! A case: one rule of the storage port, and its test.

use std::future::Future;
use std::pin::Pin;

use candor_fair_share::SlowReads;

use crate::empty_store::EmptyStore;
use crate::world::CaseContext;

/// Number of concurrent slow reads, unless a case sets other limits.
const PLACES: usize = 2;

/// A boxed future of a running case.
pub(crate) type CaseFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One rule of the storage port, and its test.
pub struct Case {
    /// Name of the rule, as `area::rule`.
    pub name: &'static str,
    /// Limits for slow reads of the store.
    pub limits: SlowReads,
    check: Box<dyn Fn(CaseContext) -> CaseFuture + Send + Sync>,
}

impl Case {
    /// Creates a case with the name of its function.
    pub(crate) fn new<C, F>(check: C) -> Self
    where
        C: Fn(CaseContext) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let path = std::any::type_name::<C>();
        let name = path.split_once("::cases::").map_or(path, |(_, name)| name);
        let limits = SlowReads::with_places(PLACES);
        Self { name, limits, check: Box::new(move |world| Box::pin(check(world))) }
    }

    /// Sets other limits for slow reads.
    pub(crate) fn with_limits(self, limits: SlowReads) -> Self {
        Self { limits, ..self }
    }

    /// Tests the rule on a fresh store.
    pub async fn check(&self, fresh: &EmptyStore) {
        (self.check)(CaseContext::new(fresh)).await;
    }
}
