//! `candor-simulate [--seed N] [--rounds N]`: months of deliveries in simulated time.
//!
//! Each seed is a month with two to four processes, which run the delivery engine's machine. The queue keeps the
//! rules of the storage port. Receivers are prompt, slow, hanging, flapping, busy, refusing, gone or absent.
//! Processes are killed and restarted, the store fails, clocks are set. The simulation checks the engine's
//! promises from outside. A seed gives the same month in every run.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "people and CI read what this prints")]

mod attempts;
mod chores;
mod counts;
mod drive;
mod plan;
mod process;
mod promises;
mod queue;
mod random;
mod rates;
mod receiver;
mod run;
mod store;
#[cfg(test)]
mod tests;
mod waits;

use clap::Parser;
use counts::Counts;
use run::{Report, run};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Number of seeds that a change must pass.
const ROUNDS: u64 = 500;

#[derive(Parser)]
#[command(name = "cargo xtask simulate", about = "Simulates months of deliveries")]
struct Options {
    /// First seed. Without --rounds it runs alone, and a broken promise is shown with its history
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Number of seeds, from the first one on
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
}

fn main() -> ExitCode {
    let Options { seed, rounds } = Options::parse();
    let reports = run_all(seed.unwrap_or(1), rounds.unwrap_or(if seed.is_some() { 1 } else { ROUNDS }));
    let mut counts = Counts::default();
    let mut digest = 0_u64;
    let mut failure_count = 0;
    for (seed, report) in &reports {
        counts.add(report.counts);
        digest = digest.rotate_left(1) ^ report.digest;
        if let Some(broken_promise) = &report.broken {
            failure_count += 1;
            println!("seed {seed}: {broken_promise}");
            report.history.iter().for_each(|line| println!("  {line}"));
            println!("  run it again alone: cargo xtask simulate --seed {seed}");
        }
    }
    println!("{} months, {counts}", reports.len());
    println!("digest {digest:016x}");
    if failure_count > 0 {
        eprintln!("{failure_count} of {} seeds have broken a promise", reports.len());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Runs the seeds on every core. The reports have the order of the seeds.
fn run_all(first: u64, rounds: u64) -> Vec<(u64, Report)> {
    let next = AtomicU64::new(0);
    let reports = Mutex::new(vec![]);
    let work = || {
        while let Some(seed) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < rounds) {
            let report = run(first + seed, None, rounds == 1);
            reports.lock().unwrap_or_else(PoisonError::into_inner).push((first + seed, report));
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
