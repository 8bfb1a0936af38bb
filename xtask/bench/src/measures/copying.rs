//! A copy of all data to the other store, against `COPY` of the same rows into the same tables with their indexes
//! and references.

use super::*;
use candor_tables::schema::{Copying, Placement, TABLES};

const MIN_SPEED: f64 = 0.5;

/// Measures only one copy in each direction, since a copy takes minutes. Returns no lines unless `instance` is on
/// PostgreSQL and the data set is on SQLite, too.
pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let Some(sqlite) = data.instance_on(Store::Sqlite).filter(|_| instance.store == Store::Postgres) else {
        return Ok(vec![]);
    };
    let source = sqlite.copy_of_file("copied")?;
    let target = instance.on_empty_database("copied")?;
    let second_database = sqlite.on_empty_database("back")?;
    let bare = instance.on_empty_database("bare")?;
    bare.execute(&["migrate"])?;
    let copy = |from: &str, to: &str| seconds(|| target.execute(&["copy", "--from", from, "--to", to]).map(drop));
    let to_postgres = copy(&source.database, &target.database)?;
    let bare = bare_seconds(&target.database, &bare.database)?;
    let to_sqlite = copy(&target.database, &second_database.database)?;
    let rows = group_thousands(f64::from(data.size.observations));
    let line = |to, figures, ratio, limit| {
        let what = format!("`candor copy` of {rows} observations and all else, comparison included");
        Line::new(what, to, figures, (ratio, "×"), limit)
    };
    let copy_texts = [format!("{to_postgres:.1} s"), format!("`COPY` of the same rows {bare:.1} s")];
    let return_texts = [format!("{to_sqlite:.1} s"), format!("the other way {to_postgres:.1} s")];
    Ok(vec![
        line(Store::Postgres, copy_texts, bare / to_postgres, Limit::AtLeast(MIN_SPEED)),
        line(Store::Sqlite, return_texts, to_postgres / to_sqlite, Limit::None),
    ])
}

/// Returns the seconds in which the server copies the same rows from files of its own.
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
