//! Operations on the store itself, independent of tenants: its master keys, its clock, and a test write.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::time::Timestamp;

use candor_tables::copy::CopyTable;
use candor_tables::schema::SchemaTable;
use candor_tables::sizes::TablePiece;

use crate::change::CommitError;
use crate::error::Read;

/// Record of a master key that sealed data in a store. The key itself is never stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MasterKey {
    /// Id of the key in the key ring.
    pub key_id: String,
    /// Value that identifies the key without revealing it.
    pub fingerprint: String,
    /// Value that only this key can open.
    pub sealed: Vec<u8>,
    /// Time at which the key was recorded.
    pub recorded_at: Timestamp,
}

/// Result of deleting rows of a table: their number, or an error if another row references them.
pub type Emptied = Result<u64, CommitError>;

/// Operations on the store itself. Only [`Upkeep::empty`] and [`Upkeep::measure`] concern a tenant.
#[async_trait]
pub trait Upkeep {
    /// Returns the master keys that sealed data here, ordered by id.
    async fn master_keys(&self) -> Read<Vec<MasterKey>>;
    /// Adds a master key if the store still has exactly `seen` keys. Otherwise changes nothing, because the ring of
    /// this process may lack a key that was added meanwhile. If several processes start on an empty store with
    /// different keys, only one of them succeeds.
    async fn add_master_key(&self, key: MasterKey, seen: usize) -> Read<()>;
    /// Replaces the records of all master keys with this one. Afterwards, a process without the replaced keys may
    /// start, and cannot open values that they sealed.
    async fn replace_master_keys(&self, key: MasterKey) -> Read<()>;
    /// Deletes at most `most` rows of a tenant from a table of [`candor_tables::schema::test_data`]. While a
    /// person still has a manager, a call for the table of people clears `manager_id` of at most `most` people
    /// instead. Returns the number of changed rows; 0 if none is left. Deleting reporting lines increments the
    /// version of the tree.
    async fn empty(&self, tenant: Tenant, table: &'static SchemaTable, most: u32) -> Emptied;
    /// Measures the next piece of a tenant's rows after this id, in one of
    /// [`candor_tables::sizes::measured_tables`].
    async fn measure(&self, tenant: Tenant, table: &CopyTable, after: [u8; 16]) -> Read<TablePiece>;
    /// Returns the time of the store's own clock, or `None` if it uses the clock of this process.
    async fn time(&self) -> Read<Option<Timestamp>>;
    /// Writes a row like a change set does, to prove that changes can be saved.
    async fn probe_write(&self, at: Timestamp) -> Read<()>;
}
