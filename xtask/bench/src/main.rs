//! Measures the built service on both stores, against pgbench on the same machine in the same minutes.
//!
//! `cargo xtask bench` builds everything and starts this program.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "people and CI read what this prints")]

mod api;
mod comparison;
mod cost;
mod data;
mod data_set;
mod database;
mod document;
mod instance;
mod measures;
mod options;
mod pgbench;
mod receiver;
mod report;
mod scratch;
mod service;
mod store;
mod traffic;

use clap::Parser;
use data_set::DataSet;
use options::Options;
use pgbench::Postgres;
use report::Line;
use scratch::Scratch;
use std::process::ExitCode;
use store::Store;

pub(crate) use candor_test_load::Result;

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the selected measures and prints the results. Returns `false` if a limit is missed and `--check` is set.
fn run(options: &Options) -> Result<bool> {
    let scratch = Scratch::create()?;
    let postgres = Postgres::start()?;
    let lines = measure(options, &scratch, postgres.as_ref())?;
    println!("\n{}", report::table(&lines));
    let missed_count = lines.iter().filter(|line| !line.is_met()).count();
    println!("{missed_count} of {} results miss their limits", lines.len());
    match (&postgres, &options.document) {
        (Some(postgres), Some(path)) if options.is_complete() => {
            document::write(path, options, &lines, &postgres.version()?)?;
        }
        _ => println!("Only a complete run on both stores writes the document."),
    }
    Ok(missed_count == 0 || !options.check)
}

fn measure(options: &Options, scratch: &Scratch, postgres: Option<&Postgres>) -> Result<Vec<Line>> {
    let mut lines = vec![];
    if measures::select_measures(options).next().is_some() {
        lines.extend(measures::run(&DataSet::load(options, scratch, postgres)?)?);
    }
    if options.selects(measures::CLUSTER) && options.measures(Store::Postgres) {
        lines.extend(measures::cluster::run(options, scratch)?);
    }
    Ok(lines)
}
