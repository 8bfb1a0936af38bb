//! What a process asks of the store itself, whoever's data is in it: which master keys have sealed something there, what
//! time it is there, and whether it takes a write.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::time::Timestamp;

use candor_tables::copy::CopyTable;
use candor_tables::schema::SchemaTable;
use candor_tables::sizes::TablePiece;

use crate::change::CommitError;
use crate::error::Read;

/// A master key that has sealed something in a store, as far as the store may know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MasterKey {
    /// Its id in the ring.
    pub key_id: String,
    /// What tells it from every other key, and gives nothing of it away.
    pub fingerprint: String,
    /// A value that only this key opens.
    pub sealed: Vec<u8>,
    /// Since when it has been known.
    pub recorded_at: Timestamp,
}

/// Result of deleting some rows of a table: their number, or that another row refers to them by now.
pub type Emptied = Result<u64, CommitError>;

/// The store itself. Nothing here belongs to a tenant, but for the emptying of one.
#[async_trait]
pub trait Upkeep {
    /// The master keys that have sealed something here, in the order of their ids.
    async fn master_keys(&self) -> Read<Vec<MasterKey>>;
    /// Adds a master key, unless others than the `seen` ones are there by now, of which nobody has seen whether the ring
    /// of this process opens them. Of several processes that begin on an empty store with keys of their own, one gets in.
    async fn add_master_key(&self, key: MasterKey, seen: usize) -> Read<()>;
    /// Leaves this master key alone: nothing that another one sealed is of any more use.
    async fn replace_master_keys(&self, key: MasterKey) -> Read<()>;
    /// Deletes at most `most` rows of a tenant from one of the tables of [`candor_tables::schema::test_data`], fewer only if none is
    /// left. The first rows of the reporting lines take the version of the tree with them.
    async fn empty(&self, tenant: Tenant, table: &'static SchemaTable, most: u32) -> Emptied;
    /// Measures the rows of a tenant behind this id, in one of [`candor_tables::sizes::measured_tables`]: one piece of them.
    async fn measure(&self, tenant: Tenant, table: &CopyTable, after: [u8; 16]) -> Read<TablePiece>;
    /// The time by a clock of the store's own, if it has another one than this process.
    async fn time(&self) -> Read<Option<Timestamp>>;
    /// Writes a row, the way a change set is written: proof that a change would be saved now.
    async fn probe_write(&self, at: Timestamp) -> Read<()>;
}
