//! PostgreSQL's own load generator, running the statements that the store sends.

use crate::Outcome;
use crate::admin::Admin;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The session settings of the store, so that both get the same plans.
const SESSION: &str = "-c plan_cache_mode=force_generic_plan -c jit=off";
/// Threads of the load generator.
const THREADS: &str = "2";

/// The program, led to one database.
#[derive(Debug, Clone)]
pub(crate) struct PgBench {
    program: PathBuf,
    url: String,
    folder: PathBuf,
}

impl PgBench {
    pub(crate) fn new(program: PathBuf, url: String, folder: &Path) -> Self {
        Self { program, url, folder: folder.to_path_buf() }
    }

    /// Writes a script down to be run by [`PgBench::rate`].
    pub(crate) fn script(&self, name: &str, text: &str) -> Outcome<PathBuf> {
        let path = self.folder.join(format!("{name}.pgbench"));
        fs::write(&path, text)?;
        Ok(path)
    }

    /// Transactions per second.
    pub(crate) fn rate(&self, script: &Path, clients: usize, time: Duration) -> Outcome<f64> {
        let mut command = Command::new(&self.program);
        command.args(["--no-vacuum", "--protocol=prepared", "--jobs", THREADS]);
        command.args(["--client", &clients.to_string(), "--time", &time.as_secs().max(1).to_string()]);
        command.arg("--file").arg(script).arg(&self.url);
        command.env("PGOPTIONS", SESSION).stdin(Stdio::null());
        let output = command.output().map_err(|error| format!("cannot run pgbench: {error}"))?;
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let rate = rate(&text).filter(|_| output.status.success());
        rate.ok_or_else(|| format!("pgbench failed: {}", errors.trim()).into())
    }
}

/// The last line with a rate leaves the time for connecting out, in every version.
fn rate(output: &str) -> Option<f64> {
    let line = output.lines().rev().find_map(|it| it.trim().strip_prefix("tps = "))?;
    line.split(' ').next()?.parse().ok()
}

/// The statement that the store has sent last and that contains all these words, with each `$n` replaced by the nth
/// expression.
pub(crate) fn statement_of_the_store(admin: &Admin, words: &[&str], values: &[String]) -> Outcome<String> {
    let found = admin.texts("SELECT query FROM pg_stat_activity WHERE application_name = 'candor'")?;
    let found = found.iter().find(|query| words.iter().all(|it| query.contains(it)));
    let found = found.ok_or_else(|| format!("the store has sent no statement with {words:?}"))?;
    filled(found, values)
}

fn filled(statement: &str, values: &[String]) -> Outcome<String> {
    let mut parts = statement.split('$');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    let mut most = 0;
    for part in parts {
        let digits = part.find(|it: char| !it.is_ascii_digit()).unwrap_or(part.len());
        let number: usize = part[..digits].parse()?;
        let value = number.checked_sub(1).and_then(|it| values.get(it));
        filled += value.ok_or_else(|| format!("the store's statement has other parameters now: {statement}"))?;
        filled += &part[digits..];
        most = most.max(number);
    }
    if most == values.len() {
        return Ok(filled);
    }
    Err(format!("the store's statement has {most} parameters instead of {}: {statement}", values.len()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_without_connecting_is_read() {
        let new = "latency average = 0.9 ms\ntps = 34012.5 (without initial connection time)\n";
        let old =
            "tps = 100.0 (including connections establishing)\ntps = 120.5 (excluding connections establishing)\n";
        assert_eq!((rate(new), rate(old), rate("nothing")), (Some(34012.5), Some(120.5), None));
    }

    #[test]
    fn every_parameter_is_filled_in() {
        let values = ["A".to_owned(), "B".to_owned()];
        assert_eq!(filled("x = $1 AND (y, z) < ($2, $1)", &values).unwrap(), "x = A AND (y, z) < (B, A)");
        assert!(filled("x = $1", &values).is_err());
        assert!(filled("x = $1 AND $2 AND $3", &values).is_err());
    }
}
