//! `cargo xtask cluster`: the tests of the store and of the service on a cluster of three nodes (Citus).

use crate::process::{self, Outcome, cargo, succeeds};
use candor_test_postgres::{NODES_VARIABLE, Nodes};

/// What runs on a cluster, unless arguments say otherwise: the suite that every store passes, the tests of a cluster alone,
/// searches and copies, what is asked over HTTP, and the built binary, also where it is killed.
///
/// Over HTTP not what asks every route or for every value, which takes a database or some thousand requests, nor connections,
/// which no store has to do with. Attempts to deliver are removed by days there, and not to the second.
const TESTS: &str = "binary_id(candor-store-postgres::conformance) + binary_id(candor-store-postgres::cluster) \
    + binary_id(candor-store-postgres::audience) \
    + (package(candor-service) & (binary_id(candor-service::search) | binary_id(candor-service::copy)) & test(/postgres|by_tenant|between_two_stores/)) \
    + (binary_id(candor-http::api) - test(/^(connections|wire)|^document::answer_matches|^headers::success|hostile_body_values|hostile_query_values|key_with_exactly_the_required|missing_body_is_refused|unexpected_members|random_objective_requests|repeated_post_with_key|impossible_redelivery/)) \
    + (package(candor-e2e) & test(/^(commands|crash|doctor|import|mails|master_key|outage|rekey|webhooks)/) & test(/postgres/)) \
    + (package(candor-e2e) & test(/through_one_instance|^webhooks::workers|an_api_process|continues_on_the_other_store/))";

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
