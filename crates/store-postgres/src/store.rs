//! The store itself: what its parts share.

use std::sync::Arc;

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_port_storage::change::{ChangeSet, CommitError, Committed};
use candor_port_storage::flat::Fetch;
use candor_port_storage::store::{Read, Storage};
use tokio::runtime::Handle;

use crate::commit::Committer;
use crate::failure::Failure;
use crate::lanes::Lanes;
use crate::listing::Teams;
use crate::pool::{Held, Pool};
use crate::queue::{Turns, Warned};
use crate::session::{Session, run};
use crate::sql::Sql;
use crate::{ConnectError, Options};

/// Reads share at most one of so many connections. What is slow runs apart from them.
const SHARED: usize = 2;

/// The least that a server can be asked.
const PING: &str = "SELECT 1";

/// The storage port on PostgreSQL. Clones share their connections, and those for commits live on the
/// runtime that [`PostgresStore::connect`] ran on.
#[derive(Clone)]
pub struct PostgresStore {
    lanes: Arc<Lanes>,
    pub(crate) pool: Pool,
    pub(crate) home: Handle,
    pub(crate) turns: Turns,
    pub(crate) warned: Warned,
    committer: Committer,
    teams: Arc<Teams>,
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// Connects. The schema is neither changed nor judged: see [`crate::migrate`] and [`crate::pending`].
    ///
    /// # Errors
    /// [`ConnectError`], also when the server does not answer now.
    pub async fn connect(options: &Options) -> Result<Self, ConnectError> {
        let session = Session::new(&options.url, &options.application_name)?;
        // One for the requests of each core, and one for the rest of the process.
        let wanted = std::thread::available_parallelism().map_or(1, usize::from) + 1;
        let lanes = wanted.min(options.pool / SHARED).max(1);
        let (pooled, home) = (options.pool.saturating_sub(lanes), session.home().clone());
        let pool = Pool::new(&session, pooled)?;
        let committer = Committer::new(pool.clone(), home.clone());
        let lanes = Arc::new(Lanes::new(session, lanes));
        let (turns, warned) = (Turns::of(pooled), Warned::default());
        let store = Self { lanes, pool, home, turns, warned, committer, teams: Arc::default() };
        store.lanes.read(&Sql::plain(PING), |_| Ok(())).await.map_err(|it| ConnectError::Unreachable(it.text()))?;
        Ok(store)
    }

    /// What is remembered of the people below somebody.
    pub(crate) fn teams(&self) -> &Teams {
        &self.teams
    }

    /// Reads on a shared connection: for statements whose cost does not depend on how much is stored.
    pub(crate) async fn read<T>(
        &self,
        sql: &Sql,
        read: impl Fn(&mut dyn Fetch) -> Result<T, Failure> + Send + Sync,
    ) -> Read<Vec<T>> {
        self.lanes.read(sql, read).await.map_err(Failure::into_storage)
    }

    /// Reads at most one row on a shared connection.
    pub(crate) async fn find<T>(
        &self,
        sql: &Sql,
        read: impl Fn(&mut dyn Fetch) -> Result<T, Failure> + Send + Sync,
    ) -> Read<Option<T>> {
        Ok(self.read(sql, read).await?.into_iter().next())
    }

    /// Runs a statement on a connection of its own: nobody waits behind it.
    pub(crate) async fn apart<T>(
        &self,
        sql: &Sql,
        read: impl Fn(&mut dyn Fetch) -> Result<T, Failure> + Send + Sync,
    ) -> Read<Vec<T>> {
        match self.attempt(sql, &read).await {
            Err(Failure::Lost(_)) => self.attempt(sql, &read).await,
            other => other,
        }
        .map_err(Failure::into_storage)
    }

    async fn attempt<T>(
        &self,
        sql: &Sql,
        read: &(impl Fn(&mut dyn Fetch) -> Result<T, Failure> + Send + Sync),
    ) -> Result<Vec<T>, Failure> {
        let held = Held::new(self.pool.get().await?);
        let rows = run(held.get()?, sql, read).await;
        if !matches!(rows, Err(Failure::Lost(_))) {
            held.give_back();
        }
        rows
    }
}

#[async_trait]
impl Storage for PostgresStore {
    async fn commit(&self, tenant: Tenant, change: ChangeSet) -> Result<Committed, CommitError> {
        self.committer.commit(tenant, change).await
    }

    async fn ping(&self) -> Read<()> {
        self.read(&Sql::plain(PING), |_| Ok(())).await.map(drop)
    }
}
