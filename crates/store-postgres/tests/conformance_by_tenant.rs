//! Runs the conformance suite on one server with the cluster's table layout, so that the cluster's statements
//! are tested without a cluster.

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
