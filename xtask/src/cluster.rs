//! `cargo xtask cluster`: the tests of the store and of the service on a cluster of three nodes (Citus).

use crate::process::{self, Outcome, cargo, succeeds};
use candor_test_postgres::{NODES_VARIABLE, Nodes};

/// Default selection: the suite of every store, the tests of a cluster, searches and copies, requests over HTTP,
/// and the built binary, also when it is killed.
///
/// Left out are tests that request every route or every value, since each takes a database or some thousand
/// requests; tests of connections, which do not depend on the store; and `impossible_redelivery`, because a cluster
/// deletes delivery attempts by days, not by seconds.
const TESTS: &str = "binary_id(candor-store-postgres::conformance) \
    + (binary_id(candor-store-postgres::database) & test(/^(cluster|audience)::/)) \
    + (binary_id(candor-service::use_cases) & test(/^(search_model|copy)::/) & test(/postgres|by_tenant|between_two_stores/)) \
    + (binary_id(candor-http::api) - test(/^(connections|wire)|^document::answer_matches|^headers::success|hostile_body_values|hostile_query_values|key_with_exactly_the_required|missing_body_is_refused|unexpected_members|random_objective_requests|repeated_post_with_key|impossible_redelivery/)) \
    + (package(candor-e2e) & test(/^(commands|crash|doctor|followed_kills|import|mails|master_key|outage|rekey|webhooks)/) & test(/postgres/)) \
    + (package(candor-e2e) & test(/through_one_instance|^webhooks::workers|an_api_process|continues_on_the_other_store/))";

/// Option for the number of concurrent tests. Each test is work for three servers and their maintenance.
const CONCURRENCY: &str = "--test-threads=3";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let nodes = match Nodes::start()? {
        Ok(nodes) => nodes,
        Err(reason) => {
            println!("skipped: the tests on a cluster: {reason}");
            return Ok(());
        }
    };
    if !succeeds(&mut cargo(&["nextest", "--version"])) {
        println!("skipped: the tests on a cluster: cargo-nextest is not installed");
        return Ok(());
    }
    let mut tests = cargo(&["nextest", "run", "--workspace", "--profile=cluster", CONCURRENCY]);
    if arguments.is_empty() {
        tests.args(["--no-fail-fast", "-E", TESTS]);
    }
    process::run(tests.args(arguments).env(NODES_VARIABLE, nodes.urls()))
}
