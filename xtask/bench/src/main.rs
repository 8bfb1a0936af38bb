//! Measures the built service on both stores, against pgbench on the same machine in the same minutes.
//!
//! `cargo xtask bench` builds everything and starts this.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "people and CI read what this prints")]

mod admin;
mod burst;
mod cost;
mod data;
mod database;
mod document;
mod http;
mod measures;
mod options;
mod pgbench;
mod random;
mod receiver;
mod report;
mod rounds;
mod scratch;
mod service;
mod stage;
mod traffic;

use options::Options;
use report::Line;
use scratch::Scratch;
use stage::{Postgres, Stage};
use std::error::Error;
use std::process::ExitCode;

/// What something comes to; the error is a text for a person.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const USAGE: u8 = 2;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::from(USAGE);
        }
    };
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the caller may be content.
fn run(options: &Options) -> Outcome<bool> {
    let scratch = Scratch::make()?;
    let postgres = match Postgres::start()? {
        Ok(postgres) => Some(postgres),
        Err(why) => {
            println!("skipped: PostgreSQL, and with it every comparison with pgbench. {why}");
            None
        }
    };
    if options.hold {
        return hold(options, &scratch, postgres.as_ref()).map(|()| true);
    }
    let lines = measured(options, &scratch, postgres.as_ref())?;
    println!("\n{}", report::table(&lines));
    let missed = lines.iter().filter(|it| !it.is_met()).count();
    println!("{missed} of {} results miss their limits", lines.len());
    match &postgres {
        Some(postgres) if options.in_full() => document::write(options, &lines, &postgres.version()?)?,
        _ => println!("The document is written by a full run on both stores."),
    }
    Ok(missed == 0 || !options.check)
}

/// Keeps the services up for whoever wants to look into them.
fn hold(options: &Options, scratch: &Scratch, postgres: Option<&Postgres>) -> Outcome {
    let wanted = measures::wanted(options);
    let size = match (wanted.main, wanted.tree) {
        (false, false) => options.size_of_the_small(),
        (_, true) => options.size_of_tree(),
        (true, false) => options.size(),
    };
    let stage = Stage::set("main", size, options, scratch, postgres)?;
    if !options.only.is_empty() && wanted.search {
        measures::load_texts(&stage, options)?;
    }
    println!("{}\nEnter ends this.", stage.addresses());
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
}

fn measured(options: &Options, scratch: &Scratch, postgres: Option<&Postgres>) -> Outcome<Vec<Line>> {
    let wanted = measures::wanted(options);
    let mut lines = vec![];
    if wanted.main {
        let stage = Stage::set("main", options.size(), options, scratch, postgres)?;
        lines.extend(measures::on_the_main_stage(&stage, options)?);
    }
    if wanted.tree {
        // Nothing is compared with pgbench here.
        let postgres = postgres.filter(|_| options.measures(options::Store::Postgres));
        let stage = Stage::set("tree", options.size_of_tree(), options, scratch, postgres)?;
        lines.extend(measures::on_the_tree(&stage, options)?);
    }
    if wanted.small {
        let postgres = postgres.filter(|_| options.measures(options::Store::Postgres));
        let stage = Stage::set("small", options.size_of_the_small(), options, scratch, postgres)?;
        lines.extend(measures::on_the_small_stage(&stage, options)?);
    }
    if wanted.search {
        let postgres = postgres.filter(|_| options.measures(options::Store::Postgres));
        let stage = Stage::set("search", options.size_of_the_small(), options, scratch, postgres)?;
        lines.extend(measures::on_the_search_stage(&stage, options)?);
    }
    if wanted.cluster {
        lines.extend(measures::on_a_cluster(options, scratch)?);
    }
    Ok(lines)
}
