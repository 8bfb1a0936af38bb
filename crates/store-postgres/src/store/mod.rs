//! The store: shared state, and the reads and transactions that all its parts use.

mod kept_statements;
mod queue_connections;
mod replica;
mod slow;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_fair_share::large_work::{Turn, is_polled_in_turn};
use candor_fair_share::{LargeWork, RowSizes};
use candor_port_storage::error::Read;
use candor_port_storage::{ChangeSet, CommitError, Committed};
use candor_port_storage::{Storage, StorageError};
use candor_tables::flat::CellReader;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tracing::Instrument;

use crate::cluster::{LAYOUT, layout_of};
use crate::commit::{Committer, check};
use crate::connection::pool::share_of;
use crate::connection::rows::{RawRows, RowSink, Values};
use crate::connection::session::Session;
use crate::failure::Failure;
use crate::layout::SharedLayout;
use crate::nodes::transaction::run_to_completion;
use crate::nodes::{Connections, Nodes, Sizes};
use crate::options::{ConnectError, PostgresOptions};
use crate::schema::pooler::explain_pooler;
use crate::sql::Sql;
use crate::sql::row::flag;
use kept_statements::KeptStatements;
use queue_connections::QueueConnections;
use replica::Replica;
use slow::SlowReadLimits;

/// Divisor for the maximum share of connections on which reads are pipelined. Slow reads have their own
/// connections.
const SHARED: usize = 2;

/// Minimum number of pooled connections. Transactions of the queue can wait for row locks, but never occupy all of
/// them.
const LEAST_POOLED: usize = 2;

/// `true` if the log already reported that the role cannot create partitions.
#[derive(Clone, Default)]
pub(crate) struct PartitionWarning(pub(crate) Arc<AtomicBool>);

/// Divisor for the share of pooled connections that reads of tenants may hold at once, one exclusive connection
/// each. The rest stays free for commits. Waiting organizations take turns.
const SINGLE_READ_SHARE: usize = 2;

/// Maximum wait of a read for its turn at a connection.
const TURN_WAIT: Duration = Duration::from_secs(5);

/// Storage port on PostgreSQL. Clones share their connections. Connections for commits live on the runtime that
/// called [`PostgresStore::connect`].
#[derive(Clone)]
pub struct PostgresStore {
    pub(crate) nodes: Nodes,
    pub(crate) home: Handle,
    pub(crate) turns: QueueConnections,
    pub(crate) warned: PartitionWarning,
    pub(crate) slow: SlowReadLimits,
    /// Limits concurrent reads on exclusive connections; waiting organizations take turns.
    single_reads: LargeWork,
    /// Limits concurrent reads of large results; waiting organizations take turns.
    pub(crate) large_work: LargeWork,
    pub(crate) row_sizes: RowSizes,
    /// Statements of lists that stay prepared.
    pub(crate) kept_statements: KeptStatements,
    pub(crate) layout: SharedLayout,
    /// Replica to try first. Set only on the store that `replica()` returns.
    pub(crate) asked_first: Option<Arc<Replica>>,
    /// The store that `replica()` returns, if there is a replica.
    for_replica: Option<Arc<Self>>,
    committer: Committer,
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// Connects to the database. Neither changes nor checks the schema: see [`crate::migrate`] and
    /// [`crate::pending`].
    ///
    /// # Errors
    /// [`ConnectError`], also if the server does not answer now.
    pub async fn connect(options: &PostgresOptions) -> Result<Self, ConnectError> {
        let session = Session::new(&options.url, &options.application_name)?;
        // Shared connections: one for each core that serves requests, and one for all other work.
        let connections = std::thread::available_parallelism().map_or(1, usize::from) + 1;
        let shared = connections.min(options.pool / SHARED).max(1);
        let pool_size = options.pool.saturating_sub(shared + options.slow_reads.places).max(LEAST_POOLED);
        let (sizes, home) =
            (Sizes { shared, pooled: pool_size, slow: options.slow_reads }, session.home().clone());
        let (nodes, layout) = servers(&session, sizes).await?;
        let committer = Committer::new(nodes.clone(), home.clone(), layout);
        let (turns, warned, slow) = (
            QueueConnections::new(pool_size),
            PartitionWarning::default(),
            SlowReadLimits::new(options.slow_reads),
        );
        let (asked_first, for_replica) = (None, None);
        let reads = pool_size / SINGLE_READ_SHARE;
        let single_reads = LargeWork::with_share(reads, share_of(reads));
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
            kept_statements: KeptStatements::default(),
            layout,
            asked_first,
            for_replica,
            committer,
        };
        let Some(url) = &options.replica_url else { return Ok(store) };
        let replica = Some(Arc::new(Replica::connect(&store, url, options).await?));
        Ok(Self { for_replica: Some(Arc::new(Self { asked_first: replica, ..store.clone() })), ..store })
    }

    /// Returns the store for reads that may be slightly stale.
    pub(crate) fn for_replica(&self) -> &Self {
        self.for_replica.as_deref().unwrap_or(self)
    }

    /// Reads on a shared connection, for statements whose cost does not depend on the amount of data.
    pub(crate) async fn read<T: Send>(
        &self,
        sql: &Sql,
        read: impl Fn(&mut dyn CellReader) -> Result<T, Failure> + Send,
    ) -> Read<Vec<T>> {
        let mut values = Values::read_by(read);
        self.read_into(sql, &mut values).await?;
        Ok(values.into_vec())
    }

    /// Reads on a shared connection. A read for a use case that is polled during turns only runs in a task of its own:
    /// rows that no poll takes from a shared connection hold up the reads behind them, also of other organizations.
    async fn read_into(&self, sql: &Sql, rows: &mut dyn RowSink) -> Read<()> {
        if !is_polled_in_turn() {
            return self.read_here(sql, rows).await;
        }
        let (store, sql) = (self.clone(), sql.clone());
        let read = async move {
            let mut raw_rows = RawRows::default();
            store.read_here(&sql, &mut raw_rows).await.map(|()| raw_rows)
        };
        pass_from_task(read, rows).await
    }

    async fn read_here(&self, sql: &Sql, rows: &mut dyn RowSink) -> Read<()> {
        if self.read_replica(sql, rows).await {
            return Ok(());
        }
        self.nodes.read(sql, rows).instrument(sql.span()).await.map_err(Failure::into_storage)
    }

    /// Reads at most one row on a shared connection.
    pub(crate) async fn find<T: Send>(
        &self,
        sql: &Sql,
        read: impl Fn(&mut dyn CellReader) -> Result<T, Failure> + Send,
    ) -> Read<Option<T>> {
        Ok(self.read(sql, read).await?.into_iter().next())
    }

    /// Runs a statement on an exclusive connection, so that no other statement waits behind it.
    pub(crate) async fn run_exclusive<T: Send>(
        &self,
        sql: &Sql,
        read: impl Fn(&mut dyn CellReader) -> Result<T, Failure> + Send,
    ) -> Read<Vec<T>> {
        let mut values = Values::read_by(read);
        self.apart_into(sql, &mut values).await?;
        Ok(values.into_vec())
    }

    /// Reads a large result when it is the tenant's turn. The read uses an exclusive connection and a task on the
    /// runtime of the connections, so that no request waits for the decoding. The task runs to its end even if the
    /// caller goes away, because the server does not notice that.
    pub(crate) async fn read_large<T: Send + 'static>(
        &self,
        tenant: Tenant,
        sql: Sql,
        read: impl Fn(&mut dyn CellReader) -> Result<T, Failure> + Send + 'static,
    ) -> Read<Vec<T>> {
        let turn = self.large_work.turn(tenant).await?;
        let store = self.clone();
        let task = async move {
            let _turn = turn;
            store.run_exclusive(&sql, read).await
        };
        let result = self.home.spawn(task.in_current_span()).await;
        result.map_err(|error| StorageError::Failed(error.to_string()))?
    }

    /// Waits for the tenant's turn at a connection. Cross-tenant reads are the service's own work and need no
    /// turn.
    async fn turn_at_connection(&self, tenant: Option<Tenant>) -> Read<Option<Turn>> {
        let Some(tenant) = tenant else { return Ok(None) };
        match timeout(TURN_WAIT, self.single_reads.turn(tenant)).await {
            Ok(turn) => turn.map(Some),
            Err(_) => Err(StorageError::Unavailable("no database connection became free in time".to_owned())),
        }
    }

    /// Reads on an exclusive connection; in a task of its own as [`Self::read_into`].
    async fn apart_into(&self, sql: &Sql, rows: &mut dyn RowSink) -> Read<()> {
        if !is_polled_in_turn() {
            return self.read_apart_here(sql, rows).await;
        }
        let (store, sql) = (self.clone(), sql.clone());
        let read = async move {
            let mut raw_rows = RawRows::default();
            store.read_apart_here(&sql, &mut raw_rows).await.map(|()| raw_rows)
        };
        pass_from_task(read, rows).await
    }

    async fn read_apart_here(&self, sql: &Sql, rows: &mut dyn RowSink) -> Read<()> {
        if self.read_replica(sql, rows).await {
            return Ok(());
        }
        let _turn = self.turn_at_connection(sql.owner()).await?;
        self.nodes
            .read_apart(|node| &node.main, sql, rows)
            .instrument(sql.span())
            .await
            .map_err(Failure::into_storage)
    }
}

/// Runs a read in a task on the runtime of its caller, and passes its rows to a sink.
pub(super) async fn pass_from_task(
    read: impl Future<Output = Read<RawRows>> + Send + 'static,
    rows: &mut dyn RowSink,
) -> Read<()> {
    let raw_rows = run_to_completion(&Handle::current(), read.in_current_span()).await?;
    raw_rows.pass_to(rows).map_err(Failure::into_storage)
}

/// Connects to the servers and detects the layout. The store uses the first host that answers, or all nodes of a
/// cluster if the URL names several.
async fn servers(session: &Session, sizes: Sizes) -> Result<(Nodes, SharedLayout), ConnectError> {
    let first = Nodes::single_server(Connections::new(session, sizes)?);
    let mut flags = Values::read_by(flag);
    let layout_result = first.read(&Sql::plain(LAYOUT), &mut flags).await;
    layout_result.map_err(|error| ConnectError::Unreachable(explain_pooler(error.text())))?;
    let layout = layout_of(flags.into_vec().first() == Some(&true));
    let hosts = session.by_host();
    if !layout.spans_tenants() && hosts.len() > 1 {
        return Ok((Nodes::for_cluster(hosts, sizes).await?, layout));
    }
    Ok((first, layout))
}

#[async_trait]
impl Storage for PostgresStore {
    async fn commit(&self, tenant: Tenant, change: ChangeSet) -> Result<Committed, CommitError> {
        self.committer.commit(tenant, change).await
    }

    async fn check(&self, tenant: Tenant, change: &ChangeSet) -> Result<(), CommitError> {
        let conditions = change.conditions().map_err(StorageError::from)?;
        let mut broken_place: Option<i64> = None;
        for query in check::queries(tenant, &conditions) {
            let place = |row: &mut dyn CellReader| row.int().map_err(Failure::Other);
            let place_of_row = self.find(&query, place).await?.flatten();
            broken_place = broken_place.into_iter().chain(place_of_row).min();
        }
        let condition = broken_place.and_then(|place| conditions.get(usize::try_from(place).ok()?));
        condition.map_or(Ok(()), |condition| Err(condition.error()))
    }

    fn replica(&self) -> &dyn Storage {
        self.for_replica()
    }
}

#[cfg(test)]
mod tests {
    use candor_fair_share::large_work::poll_in_turn;
    use candor_test_postgres::TestDatabase;
    use futures_util::FutureExt;

    use super::*;

    /// Deadline of a read that waits for no other.
    const DEADLINE: Duration = Duration::from_secs(100);
    /// Rows of 20 MB together, more than all buffers between the server and a sink.
    const MANY_ROWS: &str = "SELECT n::bigint, repeat('x', 100000) FROM generate_series(1, 200) AS n";

    #[tokio::test(flavor = "multi_thread")]
    async fn read_of_an_unpolled_use_case_holds_up_no_other() {
        let Some(database) = TestDatabase::empty().unwrap() else { return };
        let store = PostgresStore::connect(&PostgresOptions::new(database.url(), 2)).await.unwrap();
        let (many_rows, one_row) = (Sql::plain(MANY_ROWS), Sql::plain("SELECT 7::bigint"));
        let number = |row: &mut dyn CellReader| row.int().map_err(Failure::Other);
        // The second time, one poll sends the prepared statement.
        assert_eq!(store.read(&many_rows, number).await.unwrap().len(), 200);
        let mut unpolled_read = Box::pin(store.read(&many_rows, number));
        assert!(poll_in_turn(|| (&mut unpolled_read).now_or_never()).is_none());
        assert_eq!(timeout(DEADLINE, store.read(&one_row, number)).await.unwrap().unwrap(), [Some(7)]);
        let mut exclusive_read = Box::pin(store.run_exclusive(&many_rows, number));
        assert!(poll_in_turn(|| (&mut exclusive_read).now_or_never()).is_none());
        let other = timeout(DEADLINE, store.run_exclusive(&one_row, number)).await.unwrap();
        assert_eq!(other.unwrap(), [Some(7)], "the pool has few connections");
        for read in [unpolled_read.await, exclusive_read.await] {
            assert_eq!(read.unwrap(), (1..=200).map(Some).collect::<Vec<_>>());
        }
    }
}
