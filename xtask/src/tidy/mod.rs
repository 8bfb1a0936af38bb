//! `cargo xtask tidy`: rules of the project that compilers do not check.

mod arrows;
mod circles;
mod commands;
mod imports;
mod layers;
mod links;
mod manifests;
mod map;
mod messages;
mod migrations;
mod names;
mod promises;
mod references;
mod requests;
mod sizes;
mod text;
mod unused;
mod vocabulary;
mod wording;

use crate::deploy::metrics::undescribed_metrics;
use crate::process::{Outcome, output, program, root};
use crate::workspace::Workspace;
use std::collections::BTreeSet;
use std::fmt;
use std::fs;

/// Page of the crates, their folders and their dependencies.
const ARCHITECTURE: &str = "docs/ARCHITECTURE.md";

/// A broken rule: its location, the problem and the correction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    says: String,
}

impl Finding {
    fn new(path: &str, line: usize, says: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, says: says.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.says)
    }
}

/// A text file of the repository. The path is relative to the root, with slashes.
struct SourceFile {
    path: String,
    text: String,
}

pub(crate) fn run() -> Outcome {
    let files = source_files()?;
    let workspace = Workspace::load()?;
    let mut findings: Vec<Finding> = files.iter().flat_map(check).collect();
    findings.extend(arrows::check(&workspace, &files)?);
    findings.extend(circles::check(&files));
    findings.extend(links::check(&files));
    findings.extend(map::check(&files));
    findings.extend(migrations::check(files.iter().map(|file| file.path.as_str())));
    findings.extend(names::check(&files));
    findings.extend(promises::check(&files));
    findings.extend(references::check(&files));
    findings.extend(requests::check(&files)?);
    findings.extend(sizes::check_crates(&files));
    findings.extend(unused::check(&workspace, &files));
    let is_source = |path: &str| path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs");
    let sources = files.iter().filter(|file| is_source(&file.path));
    let metric_findings = undescribed_metrics(sources.map(|file| (file.path.as_str(), file.text.as_str())))?;
    findings.extend(metric_findings.into_iter().map(|(path, says)| Finding::new(&path, 1, says)));
    findings.sort();
    if findings.is_empty() {
        println!("{} files, {} packages: tidy", files.len(), workspace.packages.len());
        return Ok(());
    }
    findings.iter().for_each(|finding| println!("{finding}"));
    Err(format!("{} findings", findings.len()).into())
}

fn check(file: &SourceFile) -> Vec<Finding> {
    let mut findings = text::check(file);
    findings.extend(vocabulary::check(file));
    findings.extend(wording::check(file));
    findings.extend(commands::check(file));
    findings.extend(messages::check(file));
    if file.path.ends_with(".rs") {
        findings.extend(sizes::check(file));
        findings.extend(layers::check(file));
    }
    if file.path.ends_with("Cargo.toml") {
        findings.extend(manifests::check(file));
    }
    findings
}

/// Returns every text file that git has or would add.
fn source_files() -> Outcome<Vec<SourceFile>> {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let names = output(&mut program("git", &list))?;
    let names: BTreeSet<&str> = names.split('\0').filter(|name| !name.is_empty()).collect();
    let read = |name: &str| {
        let bytes = fs::read(root().join(name)).ok()?;
        let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
        Some(SourceFile { path: name.to_owned(), text })
    };
    Ok(names.into_iter().filter_map(read).collect())
}

/// Returns the rows below a heading of a page that begin with code: the number of the line, and the cells.
fn table_rows<'a>(page: &'a str, heading: &str) -> impl Iterator<Item = (usize, Vec<&'a str>)> {
    let section = (1..).zip(page.lines()).skip_while(move |(_, line)| *line != heading).skip(1);
    let rows = section.take_while(|(_, line)| !line.starts_with("## "));
    rows.filter_map(|(number, line)| {
        let cells = line.strip_prefix("| ").filter(|cells| cells.starts_with('`'))?;
        Some((number, cells.trim_end_matches(" |").split(" | ").collect()))
    })
}

/// Returns the spans of code in a line.
fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

#[cfg(test)]
fn file(path: &str, text: &str) -> SourceFile {
    SourceFile { path: path.to_owned(), text: text.to_owned() }
}
