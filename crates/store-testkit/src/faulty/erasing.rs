//! Erasures of a store that fails on request.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_port_storage::erasing::{ErasedRow, Erasing, ErasureChange, RemovalId};
use candor_port_storage::error::Read;
use candor_port_storage::{Storage, StoredReplay};
use candor_tables::flat::MemberTable;

use super::{Faulty, FaultyCall};

#[async_trait]
impl<S: Storage + ?Sized> Erasing for Faulty<S> {
    async fn apply_erasure(&self, tenant: Tenant, changes: &[ErasureChange]) -> Read<()> {
        self.run_call(FaultyCall::Upkeep, self.store.apply_erasure(tenant, changes)).await
    }
    async fn erased_rows(&self, tenant: Tenant, removal: RemovalId) -> Read<Vec<ErasedRow>> {
        self.run_call(FaultyCall::List, self.store.erased_rows(tenant, removal)).await
    }
    async fn members_among(&self, tenant: Tenant, members: MemberTable, ids: &[[u8; 16]]) -> Read<Vec<[u8; 16]>> {
        self.run_call(FaultyCall::List, self.store.members_among(tenant, members, ids)).await
    }
    async fn replays(&self, tenant: Tenant, after: &str, most: u16) -> Read<Vec<(String, StoredReplay)>> {
        self.run_call(FaultyCall::List, self.store.replays(tenant, after, most)).await
    }
    fn tables_to_rewrite(&self) -> &'static [&'static str] {
        self.store.tables_to_rewrite()
    }
    async fn scrub_files(&self) -> Read<()> {
        self.run_call(FaultyCall::Upkeep, self.store.scrub_files()).await
    }
}
