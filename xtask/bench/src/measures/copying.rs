//! A copy of all data to the other store, against `COPY` of the same rows into the same tables with their indexes
//! and references.

use super::*;
use candor_tables::schema::{Copying, Placement, TABLES};

const MIN_SPEED: f64 = 0.5;

/// Seconds of one round.
#[derive(Debug, Clone, Copy)]
struct Round {
    to_postgres: f64,
    bare: f64,
    to_sqlite: f64,
}

/// Measures copies in both directions. Returns no lines unless PostgreSQL is the instance and SQLite is there.
pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let Some(sqlite) = data.on(Store::Sqlite).filter(|_| instance.store == Store::Postgres) else {
        return Ok(vec![]);
    };
    let rounds = (0..data.options.rounds().div_ceil(2)).map(|number| round(instance, sqlite, number));
    let rounds = rounds.collect::<Result<Vec<_>>>()?;
    let seconds = |property: fn(&Round) -> f64| format!("{:.1} s", typical(&rounds, property));
    let (to_postgres, bare) = (seconds(|round| round.to_postgres), seconds(|round| round.bare));
    let rows = grouped(f64::from(data.size.observations));
    let line = |to, figures, value: fn(&Round) -> f64, limit| {
        let what = format!("`candor copy` of {rows} observations and all else, comparison included");
        Line::new(what, to, figures, (typical(&rounds, value), "×"), limit)
    };
    let there = [to_postgres.clone(), format!("`COPY` of the same rows {bare}")];
    let back = [seconds(|round| round.to_sqlite), format!("the other way {to_postgres}")];
    Ok(vec![
        line(Store::Postgres, there, |round| round.bare / round.to_postgres, Limit::AtLeast(MIN_SPEED)),
        line(Store::Sqlite, back, |round| round.to_postgres / round.to_sqlite, Limit::None),
    ])
}

fn round(postgres: &Instance, sqlite: &Instance, number: usize) -> Result<Round> {
    let source = sqlite.copy_of_file(&format!("copied{number}"))?;
    let target = postgres.on_empty_database(&format!("copied{number}"))?;
    let back = sqlite.on_empty_database(&format!("back{number}"))?;
    let bare = postgres.on_empty_database(&format!("bare{number}"))?;
    bare.execute(&["migrate"])?;
    let copy = |from: &str, to: &str| seconds(|| target.execute(&["copy", "--from", from, "--to", to]).map(drop));
    Ok(Round {
        to_postgres: copy(&source.database, &target.database)?,
        bare: bare_seconds(&target.database, &bare.database)?,
        to_sqlite: copy(&target.database, &back.database)?,
    })
}

/// Seconds in which the server copies the same rows from files of its own.
fn bare_seconds(from: &str, to: &str) -> Result<f64> {
    let (from, to) = (Database::connect(from)?, Database::connect(to)?);
    let folder = from.text("current_setting('data_directory')")?;
    // Skips the table of master keys, which has rows in every migrated database.
    let tables =
        TABLES.iter().filter(|table| table.copying == Copying::Rows && table.placement == Placement::Tenant);
    let tables: Vec<_> = tables.map(|table| table.name).collect();
    let file = |table: &str| format!("'{folder}/bare-{table}' (FORMAT binary)");
    for table in &tables {
        // `COPY` cannot read a partitioned table directly.
        from.run(&format!("COPY (SELECT * FROM {table}) TO {}", file(table)))?;
    }
    seconds(|| tables.iter().try_for_each(|table| to.run(&format!("COPY {table} FROM {}", file(table)))))
}
