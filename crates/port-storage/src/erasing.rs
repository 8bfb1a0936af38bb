//! Removal of the data about an erased person, and of data whose retention has ended.
//!
//! The service finds the rows in pieces, and passes the changes of each piece. A piece is one transaction. All
//! changes are idempotent, so that a piece can be repeated after a crash and by several workers.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::id::{EmployeeId, ErasureId, RetentionRunId};
use candor_tables::flat::{Column, MemberTable, SqlValue};

use crate::error::Read;
use crate::replay::StoredReplay;

/// One change of a piece.
#[derive(Debug, Clone, PartialEq)]
pub enum ErasureChange {
    /// Fails the piece if one of these people is under a legal hold, also if a hold begins before the piece is saved.
    RequireUnheld {
        /// The people.
        people: Vec<EmployeeId>,
    },
    /// Deletes the rows with one of these values in a column. `values` is not empty.
    Delete {
        /// Table of the rows.
        table: &'static str,
        /// Column that selects the rows.
        by: Column,
        /// Values of the column.
        values: Vec<SqlValue>,
    },
    /// Sets columns of the rows whose column `by` has one of `values`, which is not empty.
    Overwrite {
        /// Table of the rows.
        table: &'static str,
        /// Column that selects the rows.
        by: Column,
        /// Values of the column.
        values: Vec<SqlValue>,
        /// New values of columns.
        set: Vec<(Column, SqlValue)>,
    },
    /// Records the ids of rows that a removal deletes or overwrites. Ids that are already recorded are ignored.
    Record {
        /// Removal that the rows belong to.
        removal: RemovalId,
        /// Kind of the rows in the receipt.
        kind: &'static str,
        /// Ids of the rows.
        ids: Vec<[u8; 16]>,
    },
}

/// Id of an erasure or of a retention run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemovalId([u8; 16]);

impl RemovalId {
    /// Returns the bytes of the id.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

impl From<ErasureId> for RemovalId {
    fn from(id: ErasureId) -> Self {
        Self(id.to_bytes())
    }
}

impl From<RetentionRunId> for RemovalId {
    fn from(id: RetentionRunId) -> Self {
        Self(id.to_bytes())
    }
}

/// A row that a removal deleted or overwrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasedRow {
    /// Kind of the row in the receipt.
    pub kind: String,
    /// Id of the row; for a replay the beginning of the digest of its key.
    pub id: [u8; 16],
}

/// Operations that remove data about people.
#[async_trait]
pub trait Erasing {
    /// Makes the changes of a piece in one transaction, in their order.
    async fn apply_erasure(&self, tenant: Tenant, changes: &[ErasureChange]) -> Read<()>;
    /// Returns the rows that a removal recorded, in any order.
    async fn erased_rows(&self, tenant: Tenant, removal: RemovalId) -> Read<Vec<ErasedRow>>;
    /// Returns those of `ids` that are members in a side table, in any order.
    async fn members_among(&self, tenant: Tenant, members: MemberTable, ids: &[[u8; 16]]) -> Read<Vec<[u8; 16]>>;
    /// Returns replays with keys after this one, ordered by key.
    async fn replays(&self, tenant: Tenant, after: &str, most: u16) -> Read<Vec<(String, StoredReplay)>>;
    /// Returns the tables whose files may hold removed rows until they are rewritten.
    fn tables_to_rewrite(&self) -> &'static [&'static str];
    /// Removes deleted rows from the files of the store, as far as the store can while it serves requests.
    async fn scrub_files(&self) -> Read<()>;
}
