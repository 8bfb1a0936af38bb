//! `docs/performance.md`: the results, and the method and machine of the measurement.

use crate::Result;
use crate::data_set::{CLIENTS, Kind};
use crate::measures::{MANAGER_CLIENTS, RETRIED};
use crate::options::Options;
use crate::report::{Line, grouped, table};
use minijinja::{Environment, context};
use std::env;
use std::fs;
use std::thread::available_parallelism;

const TEMPLATE: &str = include_str!("../performance.md.jinja");

pub(crate) fn write(options: &Options, lines: &[Line], postgres: &str) -> Result {
    fs::write(&options.document, text(options, lines, &machine(postgres))?)?;
    println!("The document is written.");
    Ok(())
}

fn text(options: &Options, lines: &[Line], machine: &str) -> Result<String> {
    let (main, tree) = (Kind::Main.size(options), Kind::Tree.size(options));
    let verdict = match lines.iter().filter(|line| !line.is_met()).count() {
        0 => "Every limit is met.".to_owned(),
        1 => "One limit is missed.".to_owned(),
        many => format!("{many} limits are missed."),
    };
    let values = context! {
        verdict, machine,
        table => table(lines),
        observations => grouped(main.observations.into()),
        people => grouped(main.people.into()),
        tree_people => grouped(tree.people.into()),
        clients => CLIENTS,
        manager_clients => MANAGER_CLIENTS,
        turn => options.turn().as_secs(),
        rounds => options.rounds(),
        retried => RETRIED,
    };
    Ok(Environment::new().render_str(TEMPLATE, values)? + "\n")
}

/// Properties of the machine, without its name.
fn machine(postgres: &str) -> String {
    let cores = available_parallelism().map_or(0, usize::from);
    let processor = first_value("/proc/cpuinfo", "model name").unwrap_or_else(|| env::consts::ARCH.to_owned());
    let memory =
        first_value("/proc/meminfo", "MemTotal").and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    let memory = memory.map_or_else(String::new, |kib| format!(", {} GB of memory", (kib * 1024) / 1_000_000_000));
    let system = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "- {cores} cores ({processor}){memory}\n- {} {}, databases on {}\n\
         - PostgreSQL {postgres}, SQLite as bundled\n",
        env::consts::OS,
        system.trim(),
        temporary_file_system(),
    )
}

fn first_value(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Type of the file system that holds the temporary files.
fn temporary_file_system() -> String {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>()).filter(|fields| fields.len() > 2);
    let holding =
        fields.filter(|fields| env::temp_dir().starts_with(fields[1])).max_by_key(|fields| fields[1].len());
    holding.map_or_else(|| "an unknown file system".to_owned(), |fields| fields[2].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::tests::parse;
    use crate::report::Limit;
    use crate::report::tests::line;

    #[test]
    fn document_starts_with_the_number_of_missed_limits() {
        let options = parse("").unwrap();
        let document = text(&options, &[line(1.0, Limit::AtLeast(1.1))], "- a machine\n").unwrap();
        assert!(document.contains("\nOne limit is missed.\n"));
        assert!(document.contains("\n- a machine\n") && document.contains("| GET  | SQLite |"));
        assert!(
            text(&options, &[line(1.1, Limit::AtLeast(1.1))], "").unwrap().contains("\nEvery limit is met.\n")
        );
    }
}
