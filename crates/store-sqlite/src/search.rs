//! The index of words: an FTS5 table of tokens, whose rows are in the order in which the resources were created.
//!
//! `search_documents` says which row of it is whose. FTS5 finds rows from the last one backwards and stops with the page,
//! so what is in most rows costs no more than what is in few.

use candor_domain::access::Tenant;
use candor_domain::search::{WantedWord, WantedWords};
use candor_domain::time::Timestamp;
use candor_port_storage::search_index;
use candor_port_storage::{AnyRow, CommitError, StorageError};

use crate::commit::refusal::refused;
use crate::sql::{Db, Sql};

/// Bits of a place behind the milliseconds: 262,144 resources of one millisecond, of all tenants, have places.
const NUMBER_BITS: u32 = 18;
/// The last millisecond that has places of its own, in the year 2527.
const LAST: i64 = (1 << 44) - 1;

const PLACE: &str = "SELECT place FROM search_documents WHERE tenant_id = ? AND table_name = ? AND id = ?";
/// The next place of a millisecond.
const ADD: &str = "INSERT INTO search_documents (place, tenant_id, table_name, id) \
    SELECT coalesce((SELECT max(place) + 1 FROM search_documents WHERE place >= ?1 AND place < ?2), ?1), ?3, ?4, ?5 \
    RETURNING place";
const REMOVE: &str = "DELETE FROM search_documents WHERE place = ?";
const ADD_TOKENS: &str = "INSERT INTO search_tokens (rowid, tokens) VALUES (?, ?)";
/// Looks for what is to be replaced, which a new row need not.
const CHANGE_TOKENS: &str = "REPLACE INTO search_tokens (rowid, tokens) VALUES (?, ?)";
const REMOVE_TOKENS: &str = "DELETE FROM search_tokens WHERE rowid = ?";

/// The first place of a millisecond.
pub(crate) const fn first_place(at: Timestamp) -> i64 {
    let millis = at.millis();
    (if millis > LAST {
        LAST
    } else if millis < -LAST {
        -LAST
    } else {
        millis
    }) << NUMBER_BITS
}

/// Brings the index up to date with a row that was written, if its table is searched.
pub(crate) fn write(db: &mut Db, tenant: Tenant, row: &AnyRow) -> Result<(), CommitError> {
    let Some(entry) = row.index_entry() else { return Ok(()) };
    let (tokens, is_new) = (entry.tokens(tenant, row.table()), row.seen().is_none());
    let place = if is_new { None } else { place(db, tenant, row)? };
    match (place, tokens.is_empty()) {
        (None, true) => Ok(()),
        (Some(place), true) => remove(db, place),
        (Some(place), false) => write_tokens(db, CHANGE_TOKENS, place, &tokens),
        (None, false) => {
            let (first, behind) = (first_place(entry.created_at), first_place(entry.created_at) + (1 << NUMBER_BITS));
            let sql = Sql::new(ADD).bind(first).bind(behind).bind(tenant).bind(row.table().name).bind(row.id());
            let place = db.number(sql)?;
            write_tokens(db, ADD_TOKENS, place, &tokens)
        }
    }
}

/// The place of a row in the index, if it is there.
fn place(db: &mut Db, tenant: Tenant, row: &AnyRow) -> Result<Option<i64>, StorageError> {
    let sql = Sql::new(PLACE).bind(tenant).bind(row.table().name).bind(row.id());
    Ok(db.first(sql, |row| row.int().map_err(StorageError::Failed))?.flatten())
}

fn write_tokens(db: &mut Db, text: &'static str, place: i64, tokens: &[String]) -> Result<(), CommitError> {
    run(db, Sql::new(text).bind(place).bind(tokens.join(" ").as_str()))
}

fn remove(db: &mut Db, place: i64) -> Result<(), CommitError> {
    run(db, Sql::new(REMOVE_TOKENS).bind(place))?;
    run(db, Sql::new(REMOVE).bind(place))
}

fn run(db: &mut Db, sql: Sql) -> Result<(), CommitError> {
    db.execute(&sql).map(drop).map_err(|it| refused(&it))
}

/// Takes the rows of a table out of the index that are the first to be removed from it, if it is searched.
pub(crate) fn forget(db: &mut Db, tenant: Tenant, table: &'static str, most: u32) -> Result<(), CommitError> {
    if !search_index::TABLES.iter().any(|it| it.name == table) {
        return Ok(());
    }
    let places = format!(
        "(SELECT place FROM search_documents WHERE tenant_id = ?1 AND table_name = '{table}' \
         AND id IN (SELECT id FROM {table} WHERE tenant_id = ?1 LIMIT ?2))"
    );
    for (name, place) in [("search_tokens", "rowid"), ("search_documents", "place")] {
        let text = format!("DELETE FROM {name} WHERE {place} IN {places}");
        run(db, Sql::new(text).bind(tenant).bind(i64::from(most)))?;
    }
    Ok(())
}

/// What is wanted, in the language of FTS5. Nothing in a token has a meaning in it, and `ascii` splits none.
pub(crate) fn query(tokens: &WantedWords) -> String {
    let all = tokens.all.iter().map(|it| match it {
        WantedWord::Whole(token) => format!("\"{token}\""),
        WantedWord::Beginning(token) => format!("\"{token}\"*"),
    });
    let all = all.collect::<Vec<_>>().join(" AND ");
    match &tokens.without {
        Some(token) => format!("({all}) NOT \"{token}\""),
        None => all,
    }
}
