//! PostgreSQL passes the suite that every store passes, also with the tables laid out as for a cluster: the statements that
//! a cluster gets do on one server what the others do.

#![cfg(test)]

#[path = "support/by_tenant.rs"]
mod by_tenant;
#[path = "support/fresh.rs"]
mod fresh;
mod support;

use std::process::ExitCode;

use candor_store_testkit::run;

fn main() -> ExitCode {
    run(async |limits| Some(fresh::fresh(by_tenant::database()?, limits).await))
}
