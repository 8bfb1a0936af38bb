//! `docs/performance.md`: the results, and the method, machine and commit of the measurement.

use crate::Result;
use crate::data_set::CLIENTS;
use crate::measures::RETRIED;
use crate::options::Options;
use crate::report::{Line, group_thousands, table};
use minijinja::{Environment, context};
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::available_parallelism;

const TEMPLATE: &str = include_str!("../performance.md.jinja");

/// Heading of the last section, which `cargo xtask peers` writes.
const PEERS: &str = "\n## Beside other servers\n";

/// Writes the document, and keeps its last section. The document names the current commit of the repository that contains `path`.
pub(crate) fn write(path: &Path, options: &Options, lines: &[Line], postgres: &str) -> Result {
    let folder = path.parent().ok_or("the document is in no folder")?;
    let commit = output(Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).current_dir(folder))?;
    let date = output(Command::new("date").args(["-u", "+%F"]))?;
    let old = fs::read_to_string(path)?;
    let last_section = old.find(PEERS).map_or("", |start| &old[start..]);
    fs::write(path, text(options, lines, [&commit, &date], &machine(postgres))? + last_section)?;
    println!("The document is written.");
    Ok(())
}

fn text(options: &Options, lines: &[Line], [commit, date]: [&str; 2], machine: &str) -> Result<String> {
    let values = context! {
        commit, date, machine,
        missed => lines.iter().filter(|line| !line.is_met()).count(),
        table => table(lines),
        observations => group_thousands(options.size().observations.into()),
        people => group_thousands(options.size().people.into()),
        texts => group_thousands(options.texts().into()),
        clients => CLIENTS,
        turn => options.turn().as_secs(),
        rounds => options.rounds(),
        retried => RETRIED,
    };
    Ok(Environment::new().render_str(TEMPLATE, values)? + "\n")
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Returns the properties of the machine as a Markdown list, without its name.
fn machine(postgres: &str) -> String {
    let cores = available_parallelism().map_or(0, usize::from);
    let processor = first_value("/proc/cpuinfo", "model name").unwrap_or_else(|| env::consts::ARCH.to_owned());
    let memory = first_value("/proc/meminfo", "MemTotal").unwrap_or_default();
    let system = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "- {cores} cores ({processor}), {memory} of memory\n- {} {}\n- PostgreSQL {postgres}, SQLite as bundled\n",
        env::consts::OS,
        system.trim()
    )
}

fn first_value(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Limit;
    use crate::report::tests::line;
    use clap::Parser;

    #[test]
    fn document_names_its_commit_and_the_missed_limits() {
        let options = Options::try_parse_from(["bench", "--binary", "b"]).unwrap();
        let lines = [line(1.0, Limit::AtLeast(1.1)), line(1.1, Limit::AtLeast(1.1))];
        let document = text(&options, &lines, ["abc", "2026-01-02"], "- a machine\n").unwrap();
        assert!(document.contains("commit `abc` on 2026-01-02. Missed limits: 1.\n"), "{document}");
        assert!(document.contains("\n- a machine\n") && document.contains("| GET | SQLite |"));
    }
}
