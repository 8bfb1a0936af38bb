//! Runs the conformance suite of all stores on PostgreSQL.

#![cfg(test)]

#[path = "support/fresh.rs"]
mod fresh;
mod support;

use std::process::ExitCode;

use candor_store_testkit::run;

fn main() -> ExitCode {
    run(async |limits| Some(fresh::fresh(support::database()?, limits).await))
}
