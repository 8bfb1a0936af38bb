//! `candor-simulate [--seed N] [--rounds N]`: months of deliveries in simulated time.
//!
//! Each seed is a month: two to four processes with the delivery engine's machine, a queue that keeps the rules of the
//! storage port, receivers that are prompt, slow, hanging, flapping, refusing or not there, kills, restarts, a store that
//! fails, clocks that are set. What is promised is watched from outside. The same seed is the same month.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "people and CI read what this prints")]

mod attempts;
mod chores;
mod drive;
mod plan;
mod process;
mod promises;
mod queue;
mod random;
mod receiver;
mod run;
mod store;
#[cfg(test)]
mod tests;

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use promises::Counts;
use run::{Report, run};

/// So many seeds are run unless it is said otherwise: what a change must pass.
const ROUNDS: u64 = 2_000;
const USAGE: u8 = 2;

/// Which seeds are run.
struct Options {
    first: u64,
    rounds: u64,
}

impl Options {
    fn parse(arguments: impl Iterator<Item = String>) -> Option<Self> {
        let (mut seed, mut rounds) = (None, None);
        let mut rest = arguments;
        while let Some(name) = rest.next() {
            let value = rest.next()?.parse().ok()?;
            match name.as_str() {
                "--seed" => seed = Some(value),
                "--rounds" => rounds = Some(value),
                _ => return None,
            }
        }
        // One seed alone, unless more are asked for.
        let usual = if seed.is_some() { 1 } else { ROUNDS };
        Some(Self { first: seed.unwrap_or(1), rounds: rounds.unwrap_or(usual) })
    }
}

fn main() -> ExitCode {
    let Some(options) = Options::parse(std::env::args().skip(1)) else {
        eprintln!("usage: cargo xtask simulate [--seed N] [--rounds N]");
        return ExitCode::from(USAGE);
    };
    let reports = all(&options);
    let mut counts = Counts::default();
    let mut digest = 0_u64;
    let mut failed = 0;
    for (seed, report) in &reports {
        counts.add(report.counts);
        digest = digest.rotate_left(1) ^ report.digest;
        if let Some(broken) = &report.broken {
            failed += 1;
            println!("seed {seed}: {broken}");
            report.story.iter().for_each(|it| println!("  {it}"));
            println!("  run it again alone: cargo xtask simulate --seed {seed}");
        }
    }
    println!("{} months, {counts}", reports.len());
    println!("digest {digest:016x}");
    if failed > 0 {
        eprintln!("{failed} of {} seeds have broken a promise", reports.len());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Runs the seeds on every core; the reports come in the order of the seeds.
fn all(options: &Options) -> Vec<(u64, Report)> {
    let next = AtomicU64::new(0);
    let reports = Mutex::new(vec![]);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= options.rounds {
                return;
            }
            let seed = options.first + at;
            let report = run(seed, None, options.rounds == 1);
            reports.lock().unwrap_or_else(PoisonError::into_inner).push((seed, report));
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut reports = reports.into_inner().unwrap_or_else(PoisonError::into_inner);
    reports.sort_unstable_by_key(|(seed, _)| *seed);
    reports
}
