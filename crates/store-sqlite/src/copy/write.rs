//! Writer of the target: rows and the progress of the copy, in one transaction.

use std::sync::Arc;

use candor_port_storage::StorageError;
use candor_port_storage::copy::CopyProgress;
use candor_port_storage::error::Read;
use candor_tables::copy::{CopyRow, CopyTable, DistinctPositions};
use candor_tables::flat::SqlValue;

use crate::sql::{Db, Sql};

const IS_BEGUN: &str = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'copy_progress'";
const BEGIN: &str = "CREATE TABLE copy_progress (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, \
    WITHOUT ROWID; DELETE FROM master_keys;";
/// Queues the searchable tables of all tenants for indexing. The service indexes copied rows like rows from before
/// the introduction of the search.
const TO_BE_INDEXED: &str = "INSERT OR IGNORE INTO search_backlog SELECT tenant_id, t.column1, zeroblob(16) \
    FROM organizations CROSS JOIN (VALUES ('observations'), ('objectives'), ('employees'), ('summaries')) AS t";
const STEP: &str = "REPLACE INTO copy_progress (name, value) VALUES (?, ?)";

/// Reads the recorded progress, or `None` if no copy was started.
pub(super) fn progress(db: &mut Db) -> Read<Option<CopyProgress>> {
    if !db.exists(Sql::new(IS_BEGUN))? {
        return Ok(None);
    }
    let rows = db.rows(Sql::new("SELECT name, value FROM copy_progress"), |row| {
        let mut text = || row.text().map(Option::unwrap_or_default).map_err(StorageError::Failed);
        Ok((text()?, text()?))
    })?;
    Ok(Some(rows.into_iter().collect()))
}

/// Creates the progress table and records the first entry.
pub(super) fn begin(db: &mut Db, first: (String, String)) -> Read<()> {
    in_transaction(db, |db| {
        db.batch(BEGIN)?;
        write_down(db, &first)
    })
}

/// Inserts rows and records the progress.
pub(super) fn write(db: &mut Db, table: &CopyTable, rows: Vec<CopyRow>, step: (String, String)) -> Read<()> {
    in_transaction(db, |db| {
        insert(db, table, rows)?;
        write_down(db, &step)
    })
}

/// Checks all foreign keys, and makes new events start after `feed_end`.
pub(super) fn finish(db: &mut Db, feed_end: i64) -> Read<()> {
    let dangling = Sql::new(
        "SELECT \"table\" || ' that refer to missing rows of ' || parent FROM pragma_foreign_key_check LIMIT 1",
    );
    if let Some(what) = db.first(dangling, |row| row.text().map_err(StorageError::Failed))?.flatten() {
        return Err(StorageError::Failed(format!("there are rows of {what}")));
    }
    in_transaction(db, |db| {
        let sequence_query = "INSERT INTO sqlite_sequence (name, seq) SELECT 'events', 0 \
            WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'events')";
        run(db, &Sql::new(sequence_query))?;
        run(db, &Sql::new("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'events'").bind(feed_end))
    })
}

/// Queues the copied rows for indexing, removes the progress table, and flushes the database to the disk.
pub(super) fn accept(db: &mut Db) -> Read<()> {
    let text = format!(
        "PRAGMA synchronous = full; BEGIN; {TO_BE_INDEXED}; DROP TABLE copy_progress; COMMIT; \
         PRAGMA wal_checkpoint(TRUNCATE);"
    );
    db.batch(&text)
}

fn insert(db: &mut Db, table: &CopyTable, rows: Vec<CopyRow>) -> Read<()> {
    let columns: Vec<_> = table.columns.iter().map(|column| column.name).collect();
    let places = vec!["?"; columns.len()].join(", ");
    let text: Arc<str> = format!("INSERT INTO {} ({}) VALUES ({places})", table.name, columns.join(", ")).into();
    let mut positions = match table.position() {
        Some(_) if !rows.is_empty() => last_position(db)?,
        Some(_) | None => DistinctPositions::default(),
    };
    for mut row in rows {
        if let Some(SqlValue::Int(position)) = table.position().and_then(|at| row.get_mut(at)) {
            *position = positions.next(*position);
        }
        run(db, &Sql::new(Arc::clone(&text)).bind_all(row))?;
    }
    Ok(())
}

fn last_position(db: &mut Db) -> Read<DistinctPositions> {
    let last =
        db.first(Sql::new("SELECT max(position) FROM events"), |row| row.int().map_err(StorageError::Failed))?;
    Ok(DistinctPositions::starting_after(last.flatten()))
}

fn write_down(db: &mut Db, (name, value): &(String, String)) -> Read<()> {
    run(db, &Sql::new(STEP).bind(name.as_str()).bind(value.as_str()))
}

fn run(db: &mut Db, sql: &Sql) -> Read<()> {
    db.run(sql).map(drop)
}

fn in_transaction(db: &mut Db, work: impl FnOnce(&mut Db) -> Read<()>) -> Read<()> {
    run(db, &Sql::new("BEGIN IMMEDIATE"))?;
    let result = work(db).and_then(|()| run(db, &Sql::new("COMMIT")));
    if result.is_err() {
        // Fails if SQLite has already rolled back by itself.
        drop(db.execute(&Sql::new("ROLLBACK")));
    }
    result
}
