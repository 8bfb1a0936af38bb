//! Upkeep and search index of a store that fails on request, with an adjustable clock.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::time::Timestamp;
use candor_port_storage::Storage;
use candor_port_storage::Version;
use candor_port_storage::error::Read;
use candor_port_storage::search_index::UnindexedTable;
use candor_port_storage::search_index::{IndexChange, IndexState, PendingRow, SearchIndex, WantedBlocks};
use candor_port_storage::upkeep::{Emptied, MasterKey, Upkeep};
use candor_search_index::Block;
use candor_tables::copy::CopyTable;
use candor_tables::schema::SchemaTable;
use candor_tables::sizes::TablePiece;

use super::{Faulty, FaultyCall, faulty};

impl<S: Storage + ?Sized> Faulty<S> {
    /// Makes the store report this time.
    pub fn set_time(&self, time: Timestamp) {
        self.plan().time = Some(time);
    }

    /// Makes the store report this many additional pending rows of the full-text index.
    pub fn set_waiting(&self, rows: u16) {
        self.plan().waiting = Some(rows);
    }

    /// Makes the store report an index backlog for this table of a tenant; `None` reports the real backlog.
    pub fn set_backlog(&self, table: Option<(Tenant, &str)>) {
        self.plan().backlog =
            table.map(|(tenant, table)| UnindexedTable { tenant, table: table.to_owned(), after: [0; 16] });
    }
}

faulty! {
    SearchIndex {
        List: index_blocks(tenant: Tenant, wanted: &[WantedBlocks]) -> Read<Vec<Vec<Block>>>;
        List: index_chunks(tenant: Tenant, wanted: &[([u8; 16], u32)]) -> Read<Vec<Vec<u8>>>;
        Upkeep: change_index(tenant: Tenant, table: &str, change: IndexChange) -> Read<bool>;
        Upkeep: next_pending(after: Option<&(Tenant, String)>) -> Read<Option<(Tenant, String)>>;
        Upkeep: remove_replaced(before: Timestamp, most: u16) -> Read<u64>;
    }

    async fn index_state(&self, tenant: Tenant, table: &str, most: u16) -> Read<IndexState> {
        let set = self.plan().waiting;
        let mut state = self.run_call(FaultyCall::List, self.store.index_state(tenant, table, most)).await?;
        let made_up = (0..u128::from(set.unwrap_or(0).min(most)))
            .map(|id| PendingRow { id: id.to_be_bytes(), version: Version::FIRST });
        state.pending.extend(made_up);
        state.pending.truncate(most.into());
        Ok(state)
    }

    async fn index_backlog(&self, tenant: Option<Tenant>, most: u16) -> Read<Vec<UnindexedTable>> {
        let set = self.plan().backlog.clone();
        let of_tenant =
            set.iter().filter(|backlog| tenant.is_none_or(|tenant| backlog.tenant == tenant)).cloned().collect();
        let backlog =
            async { if set.is_some() { Ok(of_tenant) } else { self.store.index_backlog(tenant, most).await } };
        self.run_call(FaultyCall::Upkeep, backlog).await
    }
}

faulty! {
    Upkeep {
        Itself: master_keys() -> Read<Vec<MasterKey>>;
        Itself: add_master_key(key: MasterKey, seen: usize) -> Read<()>;
        Itself: replace_master_keys(key: MasterKey) -> Read<()>;
        Itself: empty(tenant: Tenant, table: &'static SchemaTable, most: u32) -> Emptied;
        Upkeep: measure(tenant: Tenant, table: &CopyTable, after: [u8; 16]) -> Read<TablePiece>;
        Itself: probe_write(at: Timestamp) -> Read<()>;
    }

    async fn time(&self) -> Read<Option<Timestamp>> {
        let set = self.plan().time;
        self.run_call(FaultyCall::Itself, async { if set.is_some() { Ok(set) } else { self.store.time().await } })
            .await
    }
}
