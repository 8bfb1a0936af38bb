//! The conformance suite on a database in a file.

use std::process::ExitCode;

mod support;

fn main() -> ExitCode {
    candor_store_testkit::run(|limits| support::fresh(false, limits))
}
