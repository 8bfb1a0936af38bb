//! The `candor` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    candor_app::main()
}
