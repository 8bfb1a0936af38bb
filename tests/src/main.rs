//! The `candor` binary, built by this package so that its tests can find it.

use std::process::ExitCode;

fn main() -> ExitCode {
    candor_app::main()
}
