//! Starts a temporary PostgreSQL server, prints its URL, and keeps it until Ctrl-C or the end of standard
//! input.

use candor_test_postgres::Cluster;
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(io::stderr(), "{problem}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let cluster =
        Cluster::start()?.ok_or("no PostgreSQL server programs found: install PostgreSQL or set PG_BIN_DIR")?;
    writeln!(io::stdout(), "{}", cluster.url())?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}
