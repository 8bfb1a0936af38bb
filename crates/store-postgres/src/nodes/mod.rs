//! Servers of the database: a single one, or the nodes of a cluster that the URL names. Statements of a tenant go
//! to the node with its rows.
//!
//! Every node can answer every statement, at some cost if the rows are on another node. So the location of a
//! tenant is only a hint: a stale one costs time, and another node replaces an unreachable one. Statements for
//! rows on a node that accepts connections but does not answer are refused, so that other requests do not wait
//! behind them.

mod state;
pub(crate) mod transaction;
mod watch;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use candor_domain::access::Tenant;
use candor_fair_share::{ExpiringCache, SlowReads};
use candor_tables::flat::CellReader;
use metrics::gauge;

use crate::connection::pool::{Pool, PooledConnection};
use crate::connection::rows::{RowSink, Values};
use crate::connection::session::{Session, run_into};
use crate::connection::shared_connections::SharedConnections;
use crate::failure::Failure;
use crate::options::ConnectError;
use crate::sql::Sql;
use state::{Health, NodeNumber, NodeUnavailable, State, node_to_ask};
use watch::Watch;

/// Lifetime of a cached tenant location. Short, because tenants may move; no shorter, because a lookup costs as much
/// as a small read.
const REMEMBERED: Duration = Duration::from_secs(30);
/// Maximum number of cached tenant locations, some ten megabytes.
const MOST_REMEMBERED: usize = 100_000;
/// Statement timeout on shared connections, where later statements wait for earlier ones. It is far above the need
/// of any of these statements.
const SHARED_TIMEOUT: Duration = Duration::from_secs(5);

/// Number of connections to each server, by use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Number of connections shared by reads.
    pub(crate) shared: usize,
    /// Number of exclusive connections, each for one transaction or one read at a time.
    pub(crate) pooled: usize,
    /// Connections and timeout of slow reads.
    pub(crate) slow: SlowReads,
}

/// Connections to one server. Each is opened when it is first needed.
pub(crate) struct Connections {
    shared: SharedConnections,
    /// Exclusive connections, each for one transaction or one read at a time.
    pub(crate) main: Pool,
    /// Connections for slow reads.
    pub(crate) slow: Pool,
}

impl Connections {
    /// Creates the connections to the only server.
    pub(crate) fn new(session: &Session, sizes: Sizes) -> Result<Self, ConnectError> {
        Self::to(None, session, sizes)
    }

    fn to(node: Option<&str>, session: &Session, sizes: Sizes) -> Result<Self, ConnectError> {
        let Sizes { shared, pooled, slow } = sizes;
        Ok(Self {
            shared: SharedConnections::new(session.with_statement_timeout(SHARED_TIMEOUT), shared),
            main: Pool::new("main", node, session, pooled)?,
            slow: Pool::new("slow", node, &session.with_statement_timeout(slow.deadline), slow.places)?,
        })
    }
}

/// Servers of the database. Clones share the connections.
#[derive(Clone)]
pub(crate) struct Nodes(Arc<Inner>);

struct Inner {
    /// Nodes in the order of the URL; never empty.
    nodes: Vec<Node>,
    states: RwLock<Vec<State>>,
    tenants: ExpiringCache<Tenant, Option<NodeNumber>>,
}

struct Node {
    name: String,
    connections: Connections,
    /// Health check of the node; `None` for a single server.
    watch: Option<Watch>,
}

impl Nodes {
    /// Creates a set with one server: a server that is no cluster, or a cluster of which the URL names one node.
    /// [`Nodes::for_cluster`] replaces this set if the URL names several nodes.
    pub(crate) fn single_server(connections: Connections) -> Self {
        Self::new(vec![Node { name: String::new(), connections, watch: None }])
    }

    /// Creates the set of a cluster's nodes. Health checks retry unreachable nodes.
    ///
    /// # Errors
    /// [`ConnectError`] if no node can be reached.
    pub(crate) async fn for_cluster(sessions: Vec<(String, Session)>, sizes: Sizes) -> Result<Self, ConnectError> {
        // The health check has a connection of its own, so the pool gets one fewer.
        let sizes = Sizes { pooled: sizes.pooled.saturating_sub(1).max(1), ..sizes };
        let node = |(name, session): (String, Session)| {
            let connections = Connections::to(Some(&name), &session, sizes)?;
            Ok(Node { connections, name, watch: Some(Watch::new(session)) })
        };
        let nodes = sessions.into_iter().map(node).collect::<Result<Vec<_>, ConnectError>>()?;
        let it = Self::new(nodes);
        watch::begin(&it.0).await.map_err(ConnectError::Unreachable)?;
        Ok(it)
    }

    fn new(nodes: Vec<Node>) -> Self {
        let states = RwLock::new(vec![State::NEW; nodes.len()]);
        let tenants = ExpiringCache::new(MOST_REMEMBERED, REMEMBERED);
        Self(Arc::new(Inner { nodes, states, tenants }))
    }

    /// Returns the number of servers.
    pub(crate) fn count(&self) -> usize {
        self.0.nodes.len()
    }

    /// Reads on a shared connection to the tenant's node.
    pub(crate) async fn read(&self, sql: &Sql, rows: &mut dyn RowSink) -> Result<(), Failure> {
        let node_number = self.number_of(sql.owner()).await;
        self.read_near(node_number, sql, rows).await
    }

    async fn read_near(
        &self,
        wanted: Option<NodeNumber>,
        sql: &Sql,
        rows: &mut dyn RowSink,
    ) -> Result<(), Failure> {
        loop {
            let (place, connections) = self.0.choose_node(wanted)?;
            match connections.shared.read(sql, rows).await {
                Err(Failure::Unconnected(reason)) if self.0.leaves(place, &reason) => {}
                done => return done,
            }
        }
    }

    /// Runs a read on an exclusive connection, from the given pool of the tenant's node. A read that loses its
    /// connection is retried once.
    pub(crate) async fn read_apart(
        &self,
        pool: fn(&Connections) -> &Pool,
        sql: &Sql,
        rows: &mut dyn RowSink,
    ) -> Result<(), Failure> {
        match self.attempt(pool, sql, rows).await {
            Err(Failure::Lost(_)) => self.attempt(pool, sql, rows).await,
            other => other,
        }
    }

    async fn attempt(
        &self,
        pool: fn(&Connections) -> &Pool,
        sql: &Sql,
        rows: &mut dyn RowSink,
    ) -> Result<(), Failure> {
        let connection = self.take_connection(pool, sql.owner()).await?;
        let result = run_into(connection.get()?, sql, rows).await;
        if !matches!(result, Err(Failure::Lost(_))) {
            connection.give_back();
        }
        result
    }

    /// Returns an exclusive connection for statements about these tenants, when it is their turn. Statements about
    /// several organizations count as the service's own work.
    pub(crate) async fn connection(&self, tenants: &[Tenant]) -> Result<PooledConnection, Failure> {
        let first = tenants.first().copied();
        let is_shared =
            tenants.iter().any(|tenant| Some(tenant.organization) != first.map(|tenant| tenant.organization));
        self.take_connection_near(|node| &node.main, first, first.filter(|_| !is_shared)).await
    }

    async fn take_connection(
        &self,
        pool: fn(&Connections) -> &Pool,
        tenant: Option<Tenant>,
    ) -> Result<PooledConnection, Failure> {
        self.take_connection_near(pool, tenant, tenant).await
    }

    /// Returns a connection to the node of the tenant `near`, in a turn of the tenant `owner`, or of the service
    /// if there is no `owner`.
    async fn take_connection_near(
        &self,
        pool: fn(&Connections) -> &Pool,
        near: Option<Tenant>,
        owner: Option<Tenant>,
    ) -> Result<PooledConnection, Failure> {
        let node_number = self.number_of(near).await;
        loop {
            let (place, connections) = self.0.choose_node(node_number)?;
            match pool(connections).get(owner).await {
                Err(Failure::Unconnected(reason)) if self.0.leaves(place, &reason) => {}
                got => return got,
            }
        }
    }

    /// Returns the number of the node that has a tenant's rows; `None` for a single server or an unknown location.
    async fn number_of(&self, tenant: Option<Tenant>) -> Option<NodeNumber> {
        let tenant = tenant.filter(|_| self.0.nodes.len() > 1)?;
        if let Some(node_number) = self.0.tenants.get(&tenant) {
            return node_number;
        }
        let mut sql = Sql::default();
        let id = sql.id(tenant.to_bytes());
        // Shards of all tables with a tenant's rows are on one node.
        sql.push(&format!(
            "SELECT groupid::bigint FROM pg_dist_placement \
             WHERE shardid = get_shard_id_for_distribution_column('events', {id})"
        ));
        let mut numbers = Values::read_by(|row: &mut dyn CellReader| row.int().map_err(Failure::Other));
        match self.read_near(None, &sql, &mut numbers).await {
            Ok(()) => {
                let number = numbers.into_vec().into_iter().next().flatten();
                self.0.tenants.insert(tenant, number);
                number
            }
            Err(failure) => {
                tracing::debug!(reason = failure.text(), "cannot look up the node of a tenant");
                None
            }
        }
    }
}

impl Inner {
    /// Returns the connections for rows on the wanted node, with the index of the chosen node.
    fn choose_node(&self, wanted: Option<NodeNumber>) -> Result<(usize, &Connections), Failure> {
        let place = match self.nodes.as_slice() {
            [_] => 0,
            _ => node_to_ask(&self.states.read().unwrap_or_else(PoisonError::into_inner), wanted).map_err(
                |NodeUnavailable| Failure::Unconnected("the node that has the rows does not answer".to_owned()),
            )?,
        };
        let node = self.nodes.get(place).ok_or_else(|| Failure::Other("there are no nodes".to_owned()))?;
        Ok((place, &node.connections))
    }

    /// Marks a node as down after a failed connection, and returns `true` if another node can be asked. A node
    /// marked as silent stays so: a health check is better evidence than a failed connection.
    fn leaves(&self, place: usize, reason: &str) -> bool {
        let down = |before: State| match before.health {
            Health::Silent => before,
            Health::Up | Health::Down => State { health: Health::Down, ..before },
        };
        self.nodes.len() > 1 && self.note(place, reason, down).into_iter().any(State::is_up)
    }

    /// Updates the state of a node, and returns the states of all.
    fn note(&self, place: usize, reason: &str, now: impl Fn(State) -> State) -> Vec<State> {
        let mut states = self.states.write().unwrap_or_else(PoisonError::into_inner);
        if let (Some(node), Some(state)) = (self.nodes.get(place), states.get_mut(place)) {
            let state_before = *state;
            *state = now(state_before);
            node.tell(state_before.health, state.health, reason);
        }
        states.clone()
    }
}

impl Node {
    /// Reports a change of the node's health to the log and the metrics.
    fn tell(&self, before: Health, now: Health, reason: &str) {
        let node = self.name.as_str();
        gauge!("candor_store_node_up", "node" => self.name.clone()).set(u8::from(now == Health::Up));
        match now {
            _ if before == now => {}
            Health::Up => tracing::info!(node, "a node of the cluster responds again"),
            Health::Down => tracing::warn!(
                node,
                reason,
                "cannot reach a node of the cluster: its organizations are served through the other nodes that reach it, \
                 or get 503. Start the node, or restore its network"
            ),
            Health::Silent => tracing::warn!(
                node,
                reason,
                "a node of the cluster does not respond; requests of its organizations get 503 until the node \
                 responds. Check the load and the network of the node"
            ),
        }
    }
}
