//! Tests of the built binary, and the binary itself, which this package builds so that its tests can find it.

use std::process::ExitCode;

fn main() -> ExitCode {
    candor_app::main()
}
