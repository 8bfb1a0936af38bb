//! Runs the cases, each by its name, on a fresh store.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;

use candor_fair_share::SlowReads;
use candor_port_storage::Storage;
use libtest_mimic::{Arguments, Failed, Trial};
use tokio::runtime::{Builder, Runtime};

use crate::world::World;

/// Something that is going on, and ends.
pub(crate) type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs one statement on a store's database, past the store.
pub type Sql = Arc<dyn Fn(String) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// An empty store that nobody else uses.
pub struct Fresh {
    /// The store.
    pub store: Arc<dyn Storage>,
    /// A way past it.
    pub sql: Sql,
    /// What has to outlive it: dropped after the store and the runtime it ran on.
    pub keep: Box<dyn Any + Send>,
}

/// One rule of the port.
pub struct Case {
    /// The rule, as `area::rule`.
    pub name: &'static str,
    /// What the store may spend on slow reads.
    pub limits: SlowReads,
    check: Box<dyn Fn(World) -> Running + Send + Sync>,
}

impl Case {
    /// A rule named as the function that proves it.
    pub(crate) fn new<C, F>(check: C) -> Self
    where
        C: Fn(World) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let path = std::any::type_name::<C>();
        let name = path.split_once("::cases::").map_or(path, |(_, name)| name);
        let limits = SlowReads::with_places(PLACES);
        Self { name, limits, check: Box::new(move |world| Box::pin(check(world))) }
    }

    /// The same rule, of a store with other limits for slow reads.
    pub(crate) fn within(self, limits: SlowReads) -> Self {
        Self { limits, ..self }
    }

    /// Proves the rule on a fresh store; panics where it does not hold.
    pub async fn check(&self, fresh: &Fresh) {
        (self.check)(World::new(fresh)).await;
    }
}

/// Every rule.
#[must_use]
pub fn suite() -> Vec<Case> {
    crate::cases::all()
}

/// Places for slow reads, unless a case is about them.
const PLACES: usize = 2;
/// Threads of a case's runtime: enough that what can happen at once does.
const THREADS: usize = 4;

/// Runs the suite as a test program: each case is a test. `fresh` makes a store with the limits that are given, or says why
/// it cannot and gives none.
pub fn run<M, F>(fresh: M) -> ExitCode
where
    M: Fn(SlowReads) -> F + Send + Sync + 'static,
    F: Future<Output = Option<Fresh>>,
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

fn prove<F: Future<Output = Option<Fresh>>>(case: &Case, runtime: Runtime, fresh: impl Fn(SlowReads) -> F) {
    let Some(fresh) = runtime.block_on(fresh(case.limits)) else { return };
    runtime.block_on(case.check(&fresh));
    let Fresh { store, sql, keep } = fresh;
    drop((store, sql));
    drop(runtime);
    drop(keep);
}
