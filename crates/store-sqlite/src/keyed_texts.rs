//! Replacement of the keys that an earlier version computed.

use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_tables::flat::CellReader;
use candor_tables::keyed_texts::{KEYED_TEXTS, KeyedText, ROWS_AT_ONCE};

use crate::sql::{Db, Sql};

/// A row with its text and its key.
struct KeyedRow {
    place: ([u8; 16], [u8; 16]),
    text: String,
    key: String,
}

/// Computes the keys of rows from earlier versions. A row whose key another row has keeps its former key and
/// becomes a twin. Does nothing where all keys are current.
pub(crate) fn replace_former_keys(db: &mut Db) -> Read<()> {
    KEYED_TEXTS.iter().try_for_each(|keyed| replace_keys_of(db, keyed))
}

fn replace_keys_of(db: &mut Db, keyed: &KeyedText) -> Read<()> {
    let KeyedText { table, text, key, candidates, key_of, marks_twins } = *keyed;
    let page = format!(
        "SELECT tenant_id, id, {text}, {key} FROM {table} WHERE {candidates} AND (tenant_id, id) > (?1, ?2) \
         ORDER BY tenant_id, id LIMIT {ROWS_AT_ONCE}"
    );
    let unmark = if marks_twins { ", twin = NULL" } else { "" };
    let take = format!(
        "UPDATE {table} SET {key} = ?3{unmark} WHERE tenant_id = ?1 AND id = ?2 \
         AND NOT EXISTS (SELECT 1 FROM {table} WHERE tenant_id = ?1 AND {key} = ?3)"
    );
    let mark = format!("UPDATE {table} SET twin = 1 WHERE tenant_id = ?1 AND id = ?2 AND twin IS NULL");
    let mut place = ([0; 16], [0; 16]);
    loop {
        let rows = db.rows(Sql::new(page.as_str()).bind(place.0).bind(place.1), |row| {
            keyed_row(row).map_err(|reason| StorageError::Corrupt { table, column: key, reason })
        })?;
        for row in &rows {
            let current_key = key_of(&row.text, &row.key);
            if current_key == row.key {
                continue;
            }
            let take = Sql::new(take.as_str()).bind(row.place.0).bind(row.place.1).bind(current_key.as_str());
            if db.run(&take)? == 0 && marks_twins {
                let mark = Sql::new(mark.as_str()).bind(row.place.0).bind(row.place.1);
                db.run(&mark)?;
            }
        }
        let Some(last) = rows.last().filter(|_| rows.len() == usize::from(ROWS_AT_ONCE)) else { return Ok(()) };
        place = last.place;
    }
}

fn keyed_row(row: &mut dyn CellReader) -> Result<KeyedRow, String> {
    Ok(KeyedRow {
        place: (row.id()?.unwrap_or_default(), row.id()?.unwrap_or_default()),
        text: row.text()?.unwrap_or_default(),
        key: row.text()?.unwrap_or_default(),
    })
}
