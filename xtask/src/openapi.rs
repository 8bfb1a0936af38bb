//! `cargo xtask openapi`: keeps `docs/openapi.json` equal to what the code describes.

use crate::process::{Outcome, cargo, output, program, root, run as run_program};
use crate::text::first_difference;
use crate::workspace::Workspace;
use std::fs;

const FILE: &str = "docs/openapi.json";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    match arguments {
        [] => write(),
        [only] if only == "--check" => check(),
        _ => Err("the only argument is --check".into()),
    }
}

fn write() -> Outcome {
    fs::write(root().join(FILE), document()?)?;
    println!("{FILE} written");
    Ok(())
}

pub(crate) fn check() -> Outcome {
    let (committed, current) = (fs::read_to_string(root().join(FILE)).unwrap_or_default(), document()?);
    match first_difference(&committed, &current) {
        None => Ok(()),
        Some(line) => {
            Err(format!("{FILE}:{line}: differs from what the code describes, run `cargo xtask openapi`").into())
        }
    }
}

/// The document as the example of the HTTP crate prints it, ending in a newline.
///
/// The whole workspace is named, so that cargo settles on the same features of the dependencies as for the tests and
/// builds nothing twice.
fn document() -> Outcome<String> {
    run_program(&mut cargo(&["build", "--quiet", "--workspace", "--example", "openapi"]))?;
    let example = Workspace::load()?.target_directory.join("debug/examples/openapi");
    let text = output(&mut program(example, &[]))?;
    Ok(format!("{}\n", text.trim_end()))
}
