//! The index of words is filled with what was there before it, piece by piece beside the service.

use std::sync::atomic::{AtomicBool, Ordering};

use candor_domain::access::Tenant;
use candor_domain::fields::Word;
use candor_domain::objective::Objective;
use candor_domain::observation::Observation;
use candor_domain::people::Employee;
use candor_domain::search::{Searchable, Type};
use candor_domain::summary::Summary;
use candor_port_storage::backlog::Backlog;
use candor_port_storage::flat::Stored;
use candor_port_storage::{AnyRow, Row, StorageExt};
use metrics::{counter, gauge};

use crate::{Error, Shell};

/// Rows indexed at once; few, so that no writer waits for long.
const PIECE: u16 = 200;
/// Tables that are looked at together.
const TABLES: u16 = 100;
/// After so many pieces it is said how far it is.
const PIECES_BETWEEN_REPORTS: u64 = 100;

/// What this process knows of the index of words.
#[derive(Debug, Default)]
pub(crate) struct SearchIndex {
    /// Whether everything is in it that was there before it. That stays so, as whatever is written is in it at once, unless
    /// an operator has all indexed once more, which the workers see.
    is_complete: AtomicBool,
}

impl SearchIndex {
    /// Requires that everything of a tenant is in the index that is to be searched.
    ///
    /// # Errors
    /// [`Error::NotIndexed`]; those of the store.
    pub(crate) async fn require_complete(&self, shell: &Shell, tenant: Tenant, types: &[Type]) -> Result<(), Error> {
        if self.is_complete.load(Ordering::Relaxed) || self.is_filled(shell).await? {
            return Ok(());
        }
        let left = shell.store.index_backlog(Some(tenant), TABLES).await?;
        let is_asked = |it: &Backlog| types.iter().any(|kind| table(*kind) == it.table);
        if left.iter().any(is_asked) { Err(Error::NotIndexed) } else { Ok(()) }
    }

    async fn is_filled(&self, shell: &Shell) -> Result<bool, Error> {
        let is_filled = shell.store.index_backlog(None, 1).await?.is_empty();
        self.is_complete.store(is_filled, Ordering::Relaxed);
        Ok(is_filled)
    }
}

const fn table(kind: Type) -> &'static str {
    match kind {
        Type::Observations => Observation::TABLE.name,
        Type::Objectives => Objective::TABLE.name,
        Type::Employees => Employee::TABLE.name,
        Type::Summaries => Summary::TABLE.name,
    }
}

/// Indexes what was there before the index, as long as `goes_on` says so; says how many rows this instance indexed. Any
/// number of instances may do this at once.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; what is left is indexed the next time.
pub async fn fill(shell: &Shell, goes_on: impl Fn() -> bool) -> Result<u64, Error> {
    let (mut indexed, mut pieces) = (0, 0_u64);
    loop {
        let left = shell.store.index_backlog(None, TABLES).await?;
        gauge!("candor_search_backlog_tables").set(u32::try_from(left.len()).unwrap_or(u32::MAX));
        shell.search_index.is_complete.store(left.is_empty(), Ordering::Relaxed);
        let Some(first) = left.first() else { return Ok(indexed) };
        if !goes_on() {
            return Ok(indexed);
        }
        let rows = piece(shell, first).await?;
        counter!("candor_search_indexed_rows_total").increment(rows);
        (indexed, pieces) = (indexed + rows, pieces + 1);
        if pieces.is_multiple_of(PIECES_BETWEEN_REPORTS) {
            let tables = left.len();
            tracing::info!(indexed, tables, "indexing the words of what was there before the search");
        }
    }
}

/// Indexes the next rows of a table; says how many these were.
async fn piece(shell: &Shell, it: &Backlog) -> Result<u64, Error> {
    match Type::ALL.iter().find(|kind| table(**kind) == it.table) {
        Some(Type::Observations) => piece_of::<Observation>(shell, it).await,
        Some(Type::Objectives) => piece_of::<Objective>(shell, it).await,
        Some(Type::Employees) => piece_of::<Employee>(shell, it).await,
        Some(Type::Summaries) => piece_of::<Summary>(shell, it).await,
        None => Err(Error::Bug(format!("{} is not searched", it.table))),
    }
}

async fn piece_of<T: Searchable + Stored>(shell: &Shell, it: &Backlog) -> Result<u64, Error> {
    let read = shell.store.entries(it.tenant, it.next::<T>(PIECE)).await?;
    let is_last = read.len() < PIECE.into();
    let rows: Vec<_> = read.into_iter().map(|it| AnyRow::of(&Row::seen(it.value, it.version))).collect();
    let (count, up_to) = (rows.len(), rows.last().map(AnyRow::id).filter(|_| !is_last));
    shell.store.index(it, rows, up_to).await?;
    Ok(count as u64)
}
