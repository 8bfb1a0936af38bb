//! The store itself: what its parts share, and the reads and transactions that they are made of.

mod queue_connections;
mod replica;
mod slow;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_fair_share::large_work::Turn;
use candor_fair_share::{LargeWork, RowSizes};
use candor_port_storage::error::Read;
use candor_port_storage::{ChangeSet, CommitError, Committed};
use candor_port_storage::{Storage, StorageError};
use candor_tables::flat::Fetch;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tracing::Instrument;

use crate::cluster::{LAYOUT, layout_of};
use crate::commit::Committer;
use crate::connection::rows::{RowSink, Values};
use crate::connection::session::Session;
use crate::failure::Failure;
use crate::layout::SharedLayout;
use crate::nodes::{Connections, Nodes, Sizes};
use crate::options::{ConnectError, PostgresOptions};
use crate::schema::pooler::explained;
use crate::sql::Sql;
use crate::sql::row::flag;
use queue_connections::Turns;
use replica::Replica;
use slow::Slow;

/// Reads share at most one of so many connections. What is slow runs apart from them.
const SHARED: usize = 2;

/// Transactions get so many at the least: one that waits for a row, as the queue's may, never holds all of them.
const LEAST_POOLED: usize = 2;

/// Whether the log says already that this role cannot make partitions.
#[derive(Clone, Default)]
pub(crate) struct Warned(pub(crate) Arc<AtomicBool>);

/// Single reads of tenants have at most one in `SINGLE_READ_SHARE` pooled connections, so that they never keep change sets
/// from being committed. Tenants take turns at them.
const SINGLE_READ_SHARE: usize = 2;

/// The longest wait of a read for its turn at a connection.
const TURN_WAIT: Duration = Duration::from_secs(5);

/// The storage port on PostgreSQL. Clones share their connections, and those for commits live on the
/// runtime that [`PostgresStore::connect`] ran on.
#[derive(Clone)]
pub struct PostgresStore {
    pub(crate) nodes: Nodes,
    pub(crate) home: Handle,
    pub(crate) turns: Turns,
    pub(crate) warned: Warned,
    pub(crate) slow: Slow,
    /// Turns at the connections of single reads.
    single_reads: LargeWork,
    /// Turns at reads of rows that are large together.
    pub(crate) large_work: LargeWork,
    pub(crate) row_sizes: RowSizes,
    pub(crate) layout: SharedLayout,
    /// Whom reads ask first, where this is the store of those that may show what was there a moment ago.
    pub(crate) asked_first: Option<Arc<Replica>>,
    /// That store, where there is a replica.
    for_replica: Option<Arc<Self>>,
    committer: Committer,
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
    pub async fn connect(options: &PostgresOptions) -> Result<Self, ConnectError> {
        let session = Session::new(&options.url, &options.application_name)?;
        // One for the requests of each core, and one for the rest of the process.
        let wanted = std::thread::available_parallelism().map_or(1, usize::from) + 1;
        let shared = wanted.min(options.pool / SHARED).max(1);
        let pooled = options.pool.saturating_sub(shared + options.slow_reads.places).max(LEAST_POOLED);
        let (sizes, home) = (Sizes { shared, pooled, slow: options.slow_reads }, session.home().clone());
        let (nodes, layout) = servers(&session, sizes).await?;
        let committer = Committer::new(nodes.clone(), home.clone(), layout);
        let (turns, warned, slow) = (Turns::of(pooled), Warned::default(), Slow::new(options.slow_reads));
        let (asked_first, for_replica) = (None, None);
        let single_reads = LargeWork::with_turns(pooled / SINGLE_READ_SHARE);
        let (large_work, row_sizes) = (LargeWork::default(), RowSizes::default());
        let store = Self {
            nodes,
            home,
            turns,
            warned,
            slow,
            single_reads,
            large_work,
            row_sizes,
            layout,
            asked_first,
            for_replica,
            committer,
        };
        let Some(url) = &options.replica_url else { return Ok(store) };
        let replica = Some(Arc::new(Replica::of(&store, url, options).await?));
        Ok(Self { for_replica: Some(Arc::new(Self { asked_first: replica, ..store.clone() })), ..store })
    }

    /// The store for reads that may show what was there a moment ago.
    pub(crate) fn for_replica(&self) -> &Self {
        self.for_replica.as_deref().unwrap_or(self)
    }

    /// Reads on a shared connection: for statements whose cost does not depend on how much is stored.
    pub(crate) async fn read<T: Send>(
        &self,
        sql: &Sql,
        read: impl Fn(&mut dyn Fetch) -> Result<T, Failure> + Send,
    ) -> Read<Vec<T>> {
        let mut values = Values::read_by(read);
        self.read_into(sql, &mut values).await?;
        Ok(values.into_vec())
    }

    async fn read_into(&self, sql: &Sql, rows: &mut dyn RowSink) -> Read<()> {
        if self.replica_answers(sql, rows).await {
            return Ok(());
        }
        self.nodes.read(sql, rows).instrument(sql.span()).await.map_err(Failure::into_storage)
    }

    /// Reads at most one row on a shared connection.
    pub(crate) async fn find<T: Send>(
        &self,
        sql: &Sql,
        read: impl Fn(&mut dyn Fetch) -> Result<T, Failure> + Send,
    ) -> Read<Option<T>> {
        Ok(self.read(sql, read).await?.into_iter().next())
    }

    /// Runs a statement on a connection of its own: nobody waits behind it.
    pub(crate) async fn apart<T: Send>(
        &self,
        sql: &Sql,
        read: impl Fn(&mut dyn Fetch) -> Result<T, Failure> + Send,
    ) -> Read<Vec<T>> {
        let mut values = Values::read_by(read);
        self.apart_into(sql, &mut values).await?;
        Ok(values.into_vec())
    }

    /// Reads rows that are large together, when the tenant's turn comes: on a connection of their own, and as a task of the
    /// runtime of connections, so that no request waits while they are decoded. It runs to its end, since the server does
    /// not notice a client that is gone.
    pub(crate) async fn read_large<T: Send + 'static>(
        &self,
        tenant: Tenant,
        sql: Sql,
        read: impl Fn(&mut dyn Fetch) -> Result<T, Failure> + Send + 'static,
    ) -> Read<Vec<T>> {
        let turn = self.large_work.turn(tenant).await?;
        let store = self.clone();
        let task = async move {
            let _turn = turn;
            store.apart(&sql, read).await
        };
        let done = self.home.spawn(task.in_current_span()).await;
        done.map_err(|error| StorageError::Failed(error.to_string()))?
    }

    /// Waits for the tenant's turn at a connection. Reads of all tenants are the service's own work and need none.
    async fn turn_at_connection(&self, tenant: Option<Tenant>) -> Read<Option<Turn>> {
        let Some(tenant) = tenant else { return Ok(None) };
        match timeout(TURN_WAIT, self.single_reads.turn(tenant)).await {
            Ok(turn) => turn.map(Some),
            Err(_) => Err(StorageError::Unavailable("no database connection became free in time".to_owned())),
        }
    }

    async fn apart_into(&self, sql: &Sql, rows: &mut dyn RowSink) -> Read<()> {
        if self.replica_answers(sql, rows).await {
            return Ok(());
        }
        let _turn = self.turn_at_connection(sql.of()).await?;
        self.nodes.read_apart(|it| &it.main, sql, rows).instrument(sql.span()).await.map_err(Failure::into_storage)
    }
}

/// The servers to use, and how the database is laid out. The first host that answers is all there is, unless tenants are
/// spread over nodes and the URL names several of them.
async fn servers(session: &Session, sizes: Sizes) -> Result<(Nodes, SharedLayout), ConnectError> {
    let first = Nodes::alone(Connections::new(session, sizes)?);
    let mut found = Values::read_by(flag);
    let asked = first.read(&Sql::plain(LAYOUT), &mut found).await;
    asked.map_err(|it| ConnectError::Unreachable(explained(it.text())))?;
    let layout = layout_of(found.into_vec().first() == Some(&true));
    let hosts = session.by_host();
    if !layout.spans_tenants() && hosts.len() > 1 {
        return Ok((Nodes::of_cluster(hosts, sizes).await?, layout));
    }
    Ok((first, layout))
}

#[async_trait]
impl Storage for PostgresStore {
    async fn commit(&self, tenant: Tenant, change: ChangeSet) -> Result<Committed, CommitError> {
        self.committer.commit(tenant, change).await
    }

    fn replica(&self) -> &dyn Storage {
        self.for_replica()
    }
}
