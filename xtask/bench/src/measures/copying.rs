//! Everything from one store to the other, against `COPY` of the same rows into the same tables with their indexes and
//! references.

use candor_tables::schema::{Copying, Placement, TABLES};

use crate::Outcome;
use crate::admin::Admin;
use crate::options::{Options, Store};
use crate::report::{Limit, Line, grouped};
use crate::rounds::median;
use crate::stage::{Side, Stage};
use std::time::Instant;

const LEAST_OF_BARE: f64 = 0.5;

/// The seconds of one round.
#[derive(Debug, Clone, Copy)]
struct Round {
    there: f64,
    bare: f64,
    back: f64,
}

pub(super) fn run(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let (Some(postgres), Some(sqlite)) = (stage.on_postgres(), stage.on_sqlite()) else { return Ok(vec![]) };
    if !options.measures(Store::Postgres) {
        return Ok(vec![]);
    }
    let rounds = (0..options.copies()).map(|number| round(postgres, sqlite, number)).collect::<Outcome<Vec<_>>>()?;
    let typical = |property: fn(&Round) -> f64| median(rounds.iter().map(property));
    let rows = grouped(f64::from(stage.size.observations));
    let (there, bare, back) = (typical(|it| it.there), typical(|it| it.bare), typical(|it| it.back));
    let line = |to, measured, against, value, limit| Line {
        what: format!("`candor copy` of {rows} observations and all else, comparison included"),
        store: Some(to),
        measured: format!("{measured:.1} s"),
        against,
        value,
        unit: "×",
        limit,
    };
    Ok(vec![
        line(
            Store::Postgres,
            there,
            format!("`COPY` of the same rows {bare:.1} s"),
            typical(|it| it.bare / it.there),
            Limit::AtLeast(LEAST_OF_BARE),
        ),
        line(Store::Sqlite, back, format!("the other way {there:.1} s"), typical(|it| it.there / it.back), Limit::None),
    ])
}

fn round(postgres: &Side, sqlite: &Side, number: usize) -> Outcome<Round> {
    let source = sqlite.file_for_another(&format!("copied{number}"))?;
    let target = postgres.on_an_empty_database(&format!("copied{number}"))?;
    let back = sqlite.on_an_empty_database(&format!("back{number}"))?;
    let bare = postgres.on_an_empty_database(&format!("bare{number}"))?;
    bare.migrated()?;
    let there = seconds(|| target.copied(&source, target.database()))?;
    let bare = bare_seconds(target.database(), bare.database())?;
    let back = seconds(|| target.copied(target.database(), back.database()))?;
    Ok(Round { there, bare, back })
}

/// How long the server takes for the same rows, which it reads from files of its own.
fn bare_seconds(from: &str, to: &str) -> Outcome<f64> {
    let (from, to) = (Admin::connect(from)?, Admin::connect(to)?);
    let folder = from.texts("SHOW data_directory")?.into_iter().next().unwrap_or_default();
    // A migrated database has its master keys already.
    let tables: Vec<_> = TABLES
        .iter()
        .filter(|table| table.copying == Copying::Rows && table.placement == Placement::Tenant)
        .map(|table| table.name)
        .collect();
    let file = |table: &str| format!("'{folder}/bare-{table}' (FORMAT binary)");
    for table in &tables {
        // A table in partitions is only copied as the answer of a query.
        from.run(&format!("COPY (SELECT * FROM {table}) TO {}", file(table)))?;
    }
    seconds(|| tables.iter().try_for_each(|it| to.run(&format!("COPY {it} FROM {}", file(it)))))
}

fn seconds(work: impl FnOnce() -> Outcome) -> Outcome<f64> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed().as_secs_f64())
}
