//! The servers that statements go to: one, or the nodes of a cluster that the URL names, each of which is asked for the
//! tenants that it has.
//!
//! Every node answers everything, what is another's at some cost. So where a tenant is, is only a hint: one that is old costs
//! time and nothing else, and instead of a node that cannot be reached another one is asked. What is on a node that does not
//! answer at all is refused until it does, so that nobody else waits behind it.

mod state;
pub(crate) mod transaction;
mod watch;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use candor_domain::access::Tenant;
use candor_fair_share::SlowReads;
use candor_tables::flat::Fetch;
use metrics::gauge;
use moka::sync::Cache;

use crate::connection::pool::{Held, Pool, Pooled};
use crate::connection::rows::{RowSink, Values};
use crate::connection::session::{Session, run_into};
use crate::connection::shared_connections::SharedConnections;
use crate::failure::Failure;
use crate::options::ConnectError;
use crate::sql::Sql;
use crate::tenant_cache::tenant_cache;
use state::{Health, NodeNumber, State, Unanswered, asked};
use watch::Watch;

/// Where a tenant is, is looked up again after so long: it may have been moved. A look takes as much as some requests.
const REMEMBERED: Duration = Duration::from_secs(30);
/// The longest that a statement on a shared connection runs, which others wait behind: far above what any of them needs.
const SHARED_TIMEOUT: Duration = Duration::from_secs(5);

/// How many connections each server gets for what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Those that reads share.
    pub(crate) shared: usize,
    /// Those that one transaction, or one read, has at a time.
    pub(crate) pooled: usize,
    /// Those for slow reads, and how long these take.
    pub(crate) slow: SlowReads,
}

/// The connections to one server. They are made when they are first needed.
pub(crate) struct Connections {
    shared: SharedConnections,
    /// Those that one transaction, or one read, has at a time.
    pub(crate) main: Pool,
    /// Those for slow reads.
    pub(crate) slow: Pool,
}

impl Connections {
    /// To the only server.
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

/// The servers. Clones are the same ones.
#[derive(Clone)]
pub(crate) struct Nodes(Arc<Inner>);

struct Inner {
    /// In the order of the URL; at least one.
    nodes: Vec<Node>,
    states: RwLock<Vec<State>>,
    tenants: Cache<Tenant, Option<NodeNumber>>,
}

struct Node {
    name: String,
    connections: Connections,
    /// What looks at it again and again, where there are several.
    watch: Option<Watch>,
}

impl Nodes {
    /// A server that has everything, or a cluster of which one node is named.
    pub(crate) fn alone(connections: Connections) -> Self {
        Self::of(vec![Node { name: String::new(), connections, watch: None }])
    }

    /// The nodes of a cluster. Those that cannot be reached now are tried again all the time.
    ///
    /// # Errors
    /// [`ConnectError`], when none can be reached.
    pub(crate) async fn of_cluster(sessions: Vec<(String, Session)>, sizes: Sizes) -> Result<Self, ConnectError> {
        // One of them looks at the node.
        let sizes = Sizes { pooled: sizes.pooled.saturating_sub(1).max(1), ..sizes };
        let node = |(name, session): (String, Session)| {
            let connections = Connections::to(Some(&name), &session, sizes)?;
            Ok(Node { connections, name, watch: Some(Watch::new(session)) })
        };
        let nodes = sessions.into_iter().map(node).collect::<Result<Vec<_>, ConnectError>>()?;
        let it = Self::of(nodes);
        watch::begin(&it.0).await.map_err(ConnectError::Unreachable)?;
        Ok(it)
    }

    fn of(nodes: Vec<Node>) -> Self {
        let states = RwLock::new(vec![State::NEW; nodes.len()]);
        let tenants = tenant_cache(REMEMBERED);
        Self(Arc::new(Inner { nodes, states, tenants }))
    }

    /// How many servers there are.
    pub(crate) fn count(&self) -> usize {
        self.0.nodes.len()
    }

    /// Reads on a shared connection to the tenant's node.
    pub(crate) async fn read(&self, sql: &Sql, rows: &mut dyn RowSink) -> Result<(), Failure> {
        let wanted = self.number_of(sql.of()).await;
        self.read_near(wanted, sql, rows).await
    }

    async fn read_near(&self, wanted: Option<NodeNumber>, sql: &Sql, rows: &mut dyn RowSink) -> Result<(), Failure> {
        loop {
            let (place, connections) = self.0.asked(wanted)?;
            match connections.shared.read(sql, rows).await {
                Err(Failure::Unconnected(reason)) if self.0.leaves(place, &reason) => {}
                done => return done,
            }
        }
    }

    /// Runs a read on a connection of its own, from this pool of the tenant's node. A read that loses its connection is run
    /// once more.
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

    async fn attempt(&self, pool: fn(&Connections) -> &Pool, sql: &Sql, rows: &mut dyn RowSink) -> Result<(), Failure> {
        let held = Held::new(self.pooled(pool, sql.of()).await?);
        let done = run_into(held.get()?, sql, rows).await;
        if !matches!(done, Err(Failure::Lost(_))) {
            held.give_back();
        }
        done
    }

    /// A connection for what one user does alone, to the node of a tenant if there is one.
    pub(crate) async fn connection(&self, tenant: Option<Tenant>) -> Result<Pooled, Failure> {
        self.pooled(|it| &it.main, tenant).await
    }

    async fn pooled(&self, pool: fn(&Connections) -> &Pool, tenant: Option<Tenant>) -> Result<Pooled, Failure> {
        let wanted = self.number_of(tenant).await;
        loop {
            let (place, connections) = self.0.asked(wanted)?;
            match pool(connections).get().await {
                Err(Failure::Unconnected(reason)) if self.0.leaves(place, &reason) => {}
                got => return got,
            }
        }
    }

    /// The number of the node that has a tenant, where there is a choice. Who does not know it asks any.
    async fn number_of(&self, tenant: Option<Tenant>) -> Option<NodeNumber> {
        let tenant = tenant.filter(|_| self.0.nodes.len() > 1)?;
        if let Some(known) = self.0.tenants.get(&tenant) {
            return known;
        }
        let mut sql = Sql::default();
        let id = sql.id(tenant.to_bytes());
        // The parts of all tables that have a tenant's rows are on one node.
        sql.push(&format!(
            "SELECT groupid::bigint FROM pg_dist_placement \
             WHERE shardid = get_shard_id_for_distribution_column('events', {id})"
        ));
        let mut found = Values::read_by(|row: &mut dyn Fetch| row.int().map_err(Failure::Other));
        match self.read_near(None, &sql, &mut found).await {
            Ok(()) => {
                let number = found.into_vec().into_iter().next().flatten();
                self.0.tenants.insert(tenant, number);
                number
            }
            Err(failure) => {
                tracing::debug!(reason = failure.text(), "the node of a tenant could not be looked up");
                None
            }
        }
    }
}

impl Inner {
    /// The connections to use for what is on this node, and their place.
    fn asked(&self, wanted: Option<NodeNumber>) -> Result<(usize, &Connections), Failure> {
        let place = match self.nodes.as_slice() {
            [_] => 0,
            _ => asked(&self.states.read().unwrap_or_else(PoisonError::into_inner), wanted)
                .map_err(|Unanswered| Failure::Unconnected("the node that has the rows does not answer".to_owned()))?,
        };
        let node = self.nodes.get(place).ok_or_else(|| Failure::Other("there are no nodes".to_owned()))?;
        Ok((place, &node.connections))
    }

    /// Notes that no connection to a node could be made; says whether another one can be asked instead. That a node is
    /// silent is known better.
    fn leaves(&self, place: usize, reason: &str) -> bool {
        let down = |before: State| match before.health {
            Health::Silent => before,
            Health::Up | Health::Down => State { health: Health::Down, ..before },
        };
        self.nodes.len() > 1 && self.note(place, reason, down).into_iter().any(State::is_up)
    }

    /// Notes what is known of a node now; answers what is known of all of them.
    fn note(&self, place: usize, reason: &str, now: impl Fn(State) -> State) -> Vec<State> {
        let mut states = self.states.write().unwrap_or_else(PoisonError::into_inner);
        if let (Some(node), Some(state)) = (self.nodes.get(place), states.get_mut(place)) {
            let before = *state;
            *state = now(before);
            node.tell(before.health, state.health, reason);
        }
        states.clone()
    }
}

impl Node {
    /// Tells operators what has become of it.
    fn tell(&self, before: Health, now: Health, reason: &str) {
        let node = self.name.as_str();
        gauge!("candor_store_node_up", "node" => self.name.clone()).set(u8::from(now == Health::Up));
        match now {
            _ if before == now => {}
            Health::Up => tracing::info!(node, "a node of the cluster answers again"),
            Health::Down => tracing::warn!(
                node,
                reason,
                "a node of the cluster cannot be reached; what is on it is asked of the others"
            ),
            Health::Silent => tracing::warn!(
                node,
                reason,
                "a node of the cluster does not answer; what is on it is refused until it does"
            ),
        }
    }
}
