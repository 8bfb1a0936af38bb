//! `cargo xtask cluster`: the tests of the store and of the service on a cluster of three nodes (Citus).

use crate::process::{self, Outcome, cargo, succeeds};
use candor_test_postgres::{NODES_VARIABLE, Nodes};

/// What runs on a cluster, unless arguments say otherwise: the suite that every store passes, the tests of a cluster alone,
/// what is asked over HTTP on every store, and the built binary.
const TESTS: &str = "binary_id(candor-store-postgres::conformance) + binary_id(candor-store-postgres::cluster) \
    + (package(candor-http) & test(/^(notices|conversations|assignments|search|objectives)/)) \
    + (package(candor-e2e) & test(/^(commands|crash|doctor|import|master_key|outage|rekey|revocation)/) & test(/postgres/))";

/// At so many at once: each is as much work for three servers as for one, and for their upkeep.
const AT_ONCE: &str = "--test-threads=3";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let nodes = match Nodes::start()? {
        Ok(nodes) => nodes,
        Err(reason) => {
            println!("skipped: the tests on a cluster, for {reason}");
            return Ok(());
        }
    };
    if !succeeds(&mut cargo(&["nextest", "--version"])) {
        println!("skipped: the tests on a cluster, for there is no cargo-nextest to choose them with");
        return Ok(());
    }
    let mut tests = cargo(&["nextest", "run", "--workspace", "--profile=cluster", AT_ONCE]);
    if arguments.is_empty() {
        tests.args(["--no-fail-fast", "-E", TESTS]);
    }
    process::run(tests.args(arguments).env(NODES_VARIABLE, nodes.urls()))
}
