//! `cargo xtask openapi`: keeps `docs/openapi.json` equal to the document that the code describes.

use crate::process::{Outcome, cargo, output, program, run as run_program};
use crate::text::write_or_check;
use crate::workspace::Workspace;

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let hint = "differs from the code, run `cargo xtask openapi`";
    write_or_check(arguments, "docs/openapi.json", document, hint)
}

/// Returns the document that the example of the HTTP crate prints, ending in a newline.
///
/// Builds the whole workspace, so that cargo unites the same features of dependencies as for the tests and builds no
/// dependency twice.
fn document() -> Outcome<String> {
    run_program(&mut cargo(&["build", "--quiet", "--workspace", "--example", "openapi"]))?;
    let example = Workspace::load()?.target_directory.join("debug/examples/openapi");
    let text = output(&mut program(example, &[]))?;
    Ok(format!("{}\n", text.trim_end()))
}
