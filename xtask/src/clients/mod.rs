//! `cargo xtask clients`: generates the types and methods of the client libraries from the OpenAPI document.

mod document;
mod literals;
mod model;
mod names;
mod query;
mod render;
mod rust;
mod rust_values;
mod samples;
mod schemas;
mod suite;
mod types;

use crate::process::{Outcome, root};
use crate::text::first_difference;
use std::fs;

pub(crate) use suite::run as test;

const DOCUMENT: &str = "docs/openapi.json";
/// Folders of the libraries. Each library gets copies of the licences.
const PACKAGES: [&str; 3] = ["clients/python", "clients/typescript", "crates/client"];
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    match arguments {
        [] => write(),
        [only] if only == "--check" => check(),
        [only] if only == "--test" => test(),
        _ => Err("the only arguments are --check and --test".into()),
    }
}

fn write() -> Outcome {
    for (path, text) in generate_files()? {
        let path = root().join(path);
        fs::create_dir_all(path.parent().ok_or("a generated file has no folder")?)?;
        fs::write(&path, text)?;
    }
    println!("generated files of the client libraries written");
    Ok(())
}

/// Fails if a committed file differs from the text that the templates generate now.
pub(crate) fn check() -> Outcome {
    for (path, text) in generate_files()? {
        let committed_text = fs::read_to_string(root().join(&path)).unwrap_or_default();
        if let Some(line) = first_difference(&committed_text, &text) {
            return Err(format!("{path}:{line}: is not current, run `cargo xtask clients`").into());
        }
    }
    Ok(())
}

fn generate_files() -> Outcome<Vec<(String, String)>> {
    let document = serde_json::from_str(&fs::read_to_string(root().join(DOCUMENT))?)?;
    let api = document::read(&document)?;
    let mut files = render::all(&api)?;
    files.push(samples::generate_samples(&api, &document)?);
    for licence in LICENCES {
        let text = fs::read_to_string(root().join(licence))?;
        files.extend(PACKAGES.map(|folder| (format!("{folder}/{licence}"), text.clone())));
    }
    Ok(files)
}
