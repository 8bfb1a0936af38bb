//! Runs each case by name on a fresh store.

use std::future::Future;
use std::process::ExitCode;
use std::sync::Arc;

use candor_fair_share::SlowReads;
use libtest_mimic::{Arguments, Failed, Trial};
use tokio::runtime::{Builder, Runtime};

use crate::case::Case;
use crate::empty_store::EmptyStore;

/// Returns the cases of all areas.
#[must_use]
pub fn suite() -> Vec<Case> {
    crate::cases::all()
}

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
