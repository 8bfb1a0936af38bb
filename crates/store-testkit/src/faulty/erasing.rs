//! Erasures of a store that fails on request.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_port_storage::erasing::{ErasedRow, Erasing, ErasureChange, RemovalId};
use candor_port_storage::error::Read;
use candor_port_storage::{Storage, StoredReplay};
use candor_tables::flat::MemberTable;

use super::{Faulty, FaultyCall, faulty};

faulty! {
    Erasing {
        Upkeep: apply_erasure(tenant: Tenant, changes: &[ErasureChange]) -> Read<()>;
        List: erased_rows(tenant: Tenant, removal: RemovalId) -> Read<Vec<ErasedRow>>;
        List: members_among(tenant: Tenant, members: MemberTable, ids: &[[u8; 16]]) -> Read<Vec<[u8; 16]>>;
        List: replays(tenant: Tenant, after: &str, most: u16) -> Read<Vec<(String, StoredReplay)>>;
        Upkeep: scrub_files() -> Read<()>;
    }

    fn tables_to_rewrite(&self) -> &'static [&'static str] {
        self.store.tables_to_rewrite()
    }
}
