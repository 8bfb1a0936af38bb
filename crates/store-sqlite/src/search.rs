//! The index of words: an FTS5 table of tokens, whose rows are in the order in which the resources were created.
//!
//! `search_documents` says which row of it is whose. FTS5 finds rows from the last one backwards and stops with the page,
//! so what is in most rows costs no more than what is in few.

use candor_domain::access::Tenant;
use candor_domain::search::{WantedWord, WantedWords};
use candor_domain::time::Timestamp;
use candor_port_storage::search_index;
use candor_port_storage::{AnyRow, StorageError};

use crate::sql::{Db, Sql, failed};

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

/// What the index is to have of a row.
pub(crate) struct IndexWrite {
    tenant: Tenant,
    table: &'static str,
    id: [u8; 16],
    created_at: Timestamp,
    is_new: bool,
    /// Nothing if the row is not found by any word.
    tokens: String,
}

/// Brings the index up to date with a row that was written, if its table is searched: at the end of the transaction, because
/// FTS5 writes a piece of its index at every savepoint, and merges pieces later.
pub(crate) fn write(db: &mut Db, tenant: Tenant, row: &AnyRow) {
    let Some(entry) = row.index_entry() else { return };
    db.index_writes.push(IndexWrite {
        tenant,
        table: row.table().name,
        id: row.id(),
        created_at: entry.created_at,
        is_new: row.seen().is_none(),
        tokens: entry.tokens(tenant, row.table()).join(" "),
    });
}

/// Carries out what is left to be written to the index.
pub(crate) fn carry_out(db: &mut Db) -> Result<(), StorageError> {
    std::mem::take(&mut db.index_writes).iter().try_for_each(|it| it.carry_out(db))
}

impl IndexWrite {
    fn carry_out(&self, db: &mut Db) -> Result<(), StorageError> {
        let place = if self.is_new { None } else { self.place(db)? };
        match (place, self.tokens.is_empty()) {
            (None, true) => Ok(()),
            (Some(place), true) => {
                run(db, Sql::new(REMOVE_TOKENS).bind(place))?;
                run(db, Sql::new(REMOVE).bind(place))
            }
            (Some(place), false) => run(db, Sql::new(CHANGE_TOKENS).bind(place).bind(self.tokens.as_str())),
            (None, false) => add(db, self.table, (self.tenant, self.id, self.created_at), &self.tokens),
        }
    }

    /// The place of the row in the index, if it is there.
    fn place(&self, db: &mut Db) -> Result<Option<i64>, StorageError> {
        let sql = Sql::new(PLACE).bind(self.tenant).bind(self.table).bind(self.id);
        Ok(db.first(sql, |row| row.int().map_err(StorageError::Failed))?.flatten())
    }
}

/// Adds a row of a table to the index, in which it is not yet.
pub(crate) fn add(
    db: &mut Db,
    table: &str,
    (tenant, id, created_at): (Tenant, [u8; 16], Timestamp),
    tokens: &str,
) -> Result<(), StorageError> {
    let first = first_place(created_at);
    let sql = Sql::new(ADD).bind(first).bind(first + (1 << NUMBER_BITS));
    let place = db.number(sql.bind(tenant).bind(table).bind(id))?;
    run(db, Sql::new(ADD_TOKENS).bind(place).bind(tokens))
}

fn run(db: &mut Db, sql: Sql) -> Result<(), StorageError> {
    db.execute(&sql).map(drop).map_err(|it| failed(&it))
}

/// Takes the rows of a table out of the index that are the first to be removed from it, if it is searched.
pub(crate) fn forget(db: &mut Db, tenant: Tenant, table: &'static str, most: u32) -> Result<(), StorageError> {
    if !search_index::TABLES.iter().any(|it| it.name == table) {
        return Ok(());
    }
    carry_out(db)?;
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
