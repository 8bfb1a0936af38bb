//! The `candor` binary under the name that these tests find it by.

use std::process::ExitCode;

fn main() -> ExitCode {
    candor_app::main()
}
