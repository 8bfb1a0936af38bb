//! `cargo xtask openapi`: keeps `docs/openapi.json` and `docs/openapi.scim.json` equal to the documents that the code
//! describes.

use crate::process::{Outcome, cargo, output, program, run as run_program};
use crate::text::write_or_check;
use crate::workspace::Workspace;

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let hint = "differs from the code, run `cargo xtask openapi`";
    // Builds the whole workspace, so that cargo unites the same features of dependencies as for the tests and builds no
    // dependency twice.
    run_program(&mut cargo(&["build", "--quiet", "--workspace", "--example", "openapi"]))?;
    write_or_check(arguments, "docs/openapi.json", || document(&[]), hint)?;
    write_or_check(arguments, "docs/openapi.scim.json", || document(&["scim"]), hint)
}

/// Returns the document that the example of the HTTP crate prints, ending in a newline.
fn document(arguments: &[&str]) -> Outcome<String> {
    let example = Workspace::load()?.target_directory.join("debug/examples/openapi");
    let text = output(&mut program(example, arguments))?;
    Ok(format!("{}\n", text.trim_end()))
}
