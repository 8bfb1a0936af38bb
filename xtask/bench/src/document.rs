//! `docs/performance.md`: the results, and on what they were reached.

use crate::Outcome;
use crate::options::Options;
use crate::report::{Line, grouped, table};
use crate::stage::CLIENTS;
use std::env;
use std::fs;
use std::path::Path;
use std::thread::available_parallelism;

/// Writes the document.
pub(crate) fn write(options: &Options, lines: &[Line], postgres: &str) -> Outcome {
    fs::write(&options.document, text(options, lines, &machine(postgres)))?;
    println!("The document is written.");
    Ok(())
}

fn text(options: &Options, lines: &[Line], machine: &[String]) -> String {
    let (size, tree) = (options.size(), options.size_of_tree());
    let missed: Vec<&Line> = lines.iter().filter(|it| !it.is_met()).collect();
    let verdict = match missed.len() {
        0 => "Every limit is met.".to_owned(),
        1 => "One limit is missed.".to_owned(),
        many => format!("{many} limits are missed."),
    };
    format!(
        "# Performance\n\n\
         Written by `cargo xtask bench`. Absolute figures move with the machine; the ratios come from neighbouring turns of \
         one run, and they are what counts.\n\n\
         {verdict}\n\n{}\n\
         ## What was run\n\n\
         - The release binary as `candor serve`: authentication, rate limits and a log line for each request are on. Load \
         generator, service and database share the machine.\n\
         - {} observations of about 400 characters about {} people who report to one another in a tree with ten direct \
         reports each; `filter[manager_id]` has {} people instead, the last of whom report to one another in a line.\n\
         - {CLIENTS} clients unless the line says otherwise ({} for `filter[manager_id]`), each waiting for its answer, on \
         connections that are kept alive. Contenders take turns of {} seconds, {} rounds, of which the first third does not \
         count where they read; every figure is a median over the rounds, every ratio the median of the rounds' ratios.\n\
         - Behind the latencies stands what each request cost: the processor time of the service and of the server of its \
         database, and the bytes that both wrote, the log included. Where others use the machine as well, these hold.\n\
         - Creates in many organizations go to any of them, each with one person. Retries repeat {} requests. Slow \
         questions have conditions that many rows meet and none all; the other tenant has one client and 200 observations.\n\
         - Summaries, conversations, messages and assignments are compared with observations, although some write more: \
         an assignment also a notification and a row for each reviewer, a message a notification and the time in its \
         conversation, a conversation a row for each participant. A large summary with all inlined is 18 times as long.\n\
         - Files of people are sent to a service of its own with 10,000 people, each row with a manager and a department. \
         What they are compared with are the same rows without events, audit entries and reporting lines: one `INSERT … \
         SELECT` on PostgreSQL, a prepared insert for each in one transaction on SQLite.\n\
         - pgbench runs `--protocol=prepared` over the Unix socket with {CLIENTS} clients: for reads the very statement that \
         the store has sent, for creates the same rows as one statement. It makes its random ids inside the statement.\n\
         - PostgreSQL flushes every commit (`fsync` and `synchronous_commit` are on), SQLite too (`synchronous=FULL`). \
         PostgreSQL has 2 GB of shared buffers, and neither checkpoints nor autovacuum run during a turn. The service has its \
         default number of connections.\n\
         - Webhooks go to receivers on this machine that answer at once, or not at all. They are compared with the service's \
         own sender, which posts the same bodies with the same headers and signatures from a process without a database: \
         as many at once where the rate counts, and at the answer of each create where the delay does. Memory is what the \
         process has of its own, without the pages of files that it maps.\n\n\
         ## On what\n\n{}\n\
         ## Again\n\n\
         ```\n\
         cargo xtask bench                  # everything; writes this document\n\
         cargo xtask bench --check          # fails when a limit is missed\n\
         cargo xtask bench --quick          # a tenth of the data and shorter turns, to try something\n\
         cargo xtask bench --rounds 3 --turn 1   # everything, in less than half the time; says so in this document\n\
         cargo xtask bench --only get --only list --store sqlite\n\
         ```\n",
        table(lines),
        grouped(size.observations.into()),
        grouped(size.people.into()),
        grouped(tree.people.into()),
        crate::measures::MANAGER_CLIENTS,
        options.turn().as_secs(),
        options.rounds(),
        crate::measures::RETRIED,
        machine.iter().map(|it| format!("- {it}\n")).collect::<String>(),
    )
}

/// What can be told of the machine without naming it.
fn machine(postgres: &str) -> Vec<String> {
    let cores = available_parallelism().map_or(0, usize::from);
    let processor = first_value("/proc/cpuinfo", "model name").unwrap_or_else(|| env::consts::ARCH.to_owned());
    let memory = first_value("/proc/meminfo", "MemTotal").and_then(|it| it.split(' ').next()?.parse::<u64>().ok());
    let memory = memory.map_or_else(String::new, |kib| format!(", {} GB of memory", (kib * 1024) / 1_000_000_000));
    let system = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    vec![
        format!("{cores} cores ({processor}){memory}"),
        format!("{} {}, databases on {}", env::consts::OS, system.trim(), file_system(&env::temp_dir())),
        format!("PostgreSQL {postgres}, SQLite as it is bundled"),
    ]
}

fn first_value(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|it| it.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The kind of file system that holds a folder.
fn file_system(folder: &Path) -> String {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let fields = mounts.lines().map(|it| it.split(' ').collect::<Vec<_>>()).filter(|it| it.len() > 2);
    let holding = fields.filter(|it| folder.starts_with(it[1])).max_by_key(|it| it[1].len());
    holding.map_or_else(|| "an unknown file system".to_owned(), |it| it[2].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Store;
    use crate::report::Limit;

    #[test]
    fn a_missed_limit_is_said_first() {
        let options = Options::parse(["--binary", "b", "--document", "d"].map(str::to_owned)).unwrap();
        let line = Line {
            what: "GET".to_owned(),
            store: Some(Store::Sqlite),
            measured: String::new(),
            against: String::new(),
            value: 1.0,
            unit: "×",
            limit: Limit::AtLeast(1.1),
        };
        let document = text(&options, std::slice::from_ref(&line), &["a machine".to_owned()]);
        assert!(document.contains("One limit is missed."));
        assert!(document.contains("- a machine\n") && document.contains("| GET  | SQLite |"));
        let document = text(&options, &[Line { value: 1.1, ..line }], &[]);
        assert!(document.contains("Every limit is met."));
    }
}
