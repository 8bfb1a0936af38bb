//! Runs each case by name on a fresh store.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;

use candor_fair_share::SlowReads;
use candor_port_storage::Storage;
use libtest_mimic::{Arguments, Failed, Trial};
use tokio::runtime::{Builder, Runtime};

use crate::world::CaseContext;

/// A boxed future of a running case.
pub(crate) type CaseFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A function that runs one statement on a store's database, bypassing the store.
pub type Sql = Arc<dyn Fn(String) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// An empty store for one case.
pub struct EmptyStore {
    /// The store under test.
    pub store: Arc<dyn Storage>,
    /// Runs a statement on the database, bypassing the store.
    pub sql: Sql,
    /// Resources of the store, dropped after the store and its runtime.
    pub keep: Box<dyn Any + Send>,
}

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

/// Returns the cases of all areas.
#[must_use]
pub fn suite() -> Vec<Case> {
    crate::cases::all()
}

/// Number of concurrent slow reads, unless a case sets other limits.
const PLACES: usize = 2;
/// Number of threads of a case's runtime, so that concurrent steps overlap.
const THREADS: usize = 4;

/// Runs the suite as a test program, one test per case. `fresh` creates a store with the given limits, or prints
/// the reason and returns `None`.
pub fn run<M, F>(fresh: M) -> ExitCode
where
    M: Fn(SlowReads) -> F + Send + Sync + 'static,
    F: Future<Output = Option<EmptyStore>>,
{
    let fresh = Arc::new(fresh);
    let trial = |case: Case| {
        let fresh = Arc::clone(&fresh);
        Trial::test(case.name, move || {
            let runtime = Builder::new_multi_thread().worker_threads(THREADS).enable_all().build();
            prove(&case, runtime.map_err(Failed::from)?, &*fresh);
            Ok(())
        })
    };
    libtest_mimic::run(&Arguments::from_args(), suite().into_iter().map(trial).collect()).exit_code()
}

fn prove<F: Future<Output = Option<EmptyStore>>>(case: &Case, runtime: Runtime, fresh: impl Fn(SlowReads) -> F) {
    let Some(fresh) = runtime.block_on(fresh(case.limits)) else { return };
    runtime.block_on(case.check(&fresh));
    let EmptyStore { store, sql, keep } = fresh;
    drop((store, sql));
    drop(runtime);
    drop(keep);
}
