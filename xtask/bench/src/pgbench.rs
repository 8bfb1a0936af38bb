//! A PostgreSQL server, and its own load generator running the statements that the store sends.

use crate::Result;
use crate::comparison::Contender;
use crate::cost::{self, Processes};
use crate::database::Database;
use candor_test_load::Sample;
use candor_test_postgres::Cluster;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Settings of a durable server with enough memory for the data. There are no checkpoints during a turn, because they
/// would make turns differ. The server shows whole statements, so that pgbench can run the statements of the store.
const SETTINGS: &str = "shared_buffers=2GB max_wal_size=8GB checkpoint_timeout=1h autovacuum_naptime=1h \
    track_activity_query_size=32kB random_page_cost=1.1";
/// Settings of the store's sessions. With them, pgbench gets the same plans as the store.
const SESSION: &str = "-c plan_cache_mode=force_generic_plan -c jit=off";
/// Threads of the load generator.
const THREADS: &str = "2";

/// A running server, and the path of the program `pgbench`.
#[derive(Debug)]
pub(crate) struct Postgres {
    cluster: Cluster,
    pgbench: PathBuf,
}

impl Postgres {
    /// Starts a server. Returns `None` and prints the reason if there is nothing to compare with.
    pub(crate) fn start() -> Result<Option<Self>> {
        let cluster = Cluster::start_with(&SETTINGS.split(' ').collect::<Vec<_>>())?;
        let pgbench = cluster.as_ref().and_then(|cluster| cluster.program("pgbench"));
        let reason = match (cluster, pgbench) {
            (Some(cluster), Some(pgbench)) => return Ok(Some(Self { cluster, pgbench })),
            (Some(_), None) => "PostgreSQL has no pgbench here: install its client programs",
            (None, _) => "no PostgreSQL server programs found: set PG_BIN_DIR",
        };
        println!("skipped: PostgreSQL, and with it every comparison with pgbench. {reason}");
        Ok(None)
    }

    pub(crate) fn version(&self) -> Result<String> {
        Database::connect(&self.cluster.url())?.text("current_setting('server_version')")
    }

    /// Creates an empty database and returns its URL.
    pub(crate) fn create_database(&self, name: &str) -> Result<String> {
        create_database(&self.cluster.url(), name)
    }

    pub(crate) fn reference(&self, url: String, folder: &Path) -> Result<Reference> {
        let database = Database::connect(&url)?;
        let processes = Processes(vec![cost::server(&database)?]);
        let (program, folder) = (self.pgbench.clone(), folder.to_path_buf());
        Ok(Reference { database, program, url, folder, processes })
    }
}

/// Creates an empty database on the server of another database and returns its URL.
pub(crate) fn create_database(url: &str, name: &str) -> Result<String> {
    Database::connect(url)?.run(&format!("CREATE DATABASE {name}"))?;
    let (server, _) = url.rsplit_once('/').ok_or("a URL without a database")?;
    Ok(format!("{server}/{name}"))
}

/// Runs pgbench on one database.
pub(crate) struct Reference {
    pub(crate) database: Database,
    program: PathBuf,
    url: String,
    folder: PathBuf,
    processes: Processes,
}

impl Reference {
    /// Writes a script for [`Self::contender`]. Returns the path of the script.
    pub(crate) fn script(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.folder.join(format!("{name}.pgbench"));
        fs::write(&path, text)?;
        Ok(path)
    }

    /// Returns a contender that runs a script.
    pub(crate) fn contender(&self, script: PathBuf, clients: usize) -> Contender<'_> {
        Box::new(move |time, _| {
            let time_before = self.processes.time()?;
            let rate = self.rate(&script, clients, time)?;
            let processor_time = self.processes.time()?.saturating_sub(time_before);
            Ok(Sample::from_rate(rate).with_cost(processor_time, rate * time.as_secs_f64()))
        })
    }

    /// Runs the script and returns the transactions per second.
    fn rate(&self, script: &Path, clients: usize, time: Duration) -> Result<f64> {
        let mut command = Command::new(&self.program);
        command.args(["--no-vacuum", "--protocol=prepared", "--jobs", THREADS]);
        command.args(["--client", &clients.to_string(), "--time", &time.as_secs().max(1).to_string()]);
        command.arg("--file").arg(script).arg(&self.url);
        command.env("PGOPTIONS", SESSION).stdin(Stdio::null());
        let output = command.output().map_err(|error| format!("cannot run pgbench: {error}"))?;
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let rate = parse_rate(&text).filter(|_| output.status.success());
        rate.ok_or_else(|| format!("pgbench failed: {}", errors.trim()).into())
    }

    /// Finds the statement with all these words among the last statements of the store's connections. Returns it with
    /// `values` in place of its parameters.
    pub(crate) fn store_statement(&self, words: &[&str], values: &[String]) -> Result<String> {
        let query = "SELECT query AS value FROM pg_stat_activity WHERE application_name = 'candor'";
        let statements = self.database.texts(query)?;
        let statement = statements.iter().find(|statement| words.iter().all(|word| statement.contains(word)));
        insert_values(statement.ok_or_else(|| format!("the store has sent no statement with {words:?}"))?, values)
    }
}

/// Parses the output of pgbench. In every version the last rate is the one without connection times. `None` if the
/// output has no rate.
fn parse_rate(output: &str) -> Option<f64> {
    let line = output.lines().rev().find_map(|line| line.trim().strip_prefix("tps = "))?;
    line.split(' ').next()?.parse().ok()
}

/// Replaces each `$n` by the nth value. All values must be used.
fn insert_values(statement: &str, values: &[String]) -> Result<String> {
    let mut parts = statement.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    let mut parameter_count = 0;
    for part in parts {
        let digits = part.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(part.len());
        let number: usize = part[..digits].parse()?;
        let value = number.checked_sub(1).and_then(|index| values.get(index));
        text += value.ok_or_else(|| format!("the measure has no value for ${number} of {statement}"))?;
        text += &part[digits..];
        parameter_count = parameter_count.max(number);
    }
    if parameter_count == values.len() {
        return Ok(text);
    }
    Err(format!("the store's statement has {parameter_count} parameters instead of {}: {statement}", values.len())
        .into())
}

#[cfg(test)]
mod tests {
    use super::insert_values;

    #[test]
    fn every_parameter_is_replaced() {
        let values = ["A".to_owned(), "B".to_owned()];
        let text = insert_values("x = $1 AND (y, z) < ($2, $1)", &values).unwrap();
        assert_eq!(text, "x = A AND (y, z) < (B, A)");
        assert!(insert_values("x = $1", &values).is_err() && insert_values("x = $1, $2, $3", &values).is_err());
    }
}
