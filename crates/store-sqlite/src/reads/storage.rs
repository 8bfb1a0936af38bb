//! The store as a whole.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_port_storage::store::Read;
use candor_port_storage::{ChangeSet, CommitError, Committed, Storage};

use crate::sql::Sql;
use crate::{SqliteStore, commit, writer};

#[async_trait]
impl Storage for SqliteStore {
    async fn commit(&self, tenant: Tenant, change: ChangeSet) -> Result<Committed, CommitError> {
        writer::ask(&self.tasks, move |db| commit::carry_out(db, tenant, &change)).await
    }

    async fn ping(&self) -> Read<()> {
        self.read(|db| db.number(Sql::new("SELECT 1"))).await.map(drop)
    }
}
