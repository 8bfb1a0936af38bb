//! PostgreSQL passes the suite that every store passes.

#![cfg(test)]

#[path = "support/fresh.rs"]
mod fresh;
mod support;

use std::process::ExitCode;

use candor_store_testkit::run;

fn main() -> ExitCode {
    run(async |limits| Some(fresh::fresh(support::database()?, limits).await))
}
