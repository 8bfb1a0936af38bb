//! A pool of connections that are idle or shared, by receiver and vetted address.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use candor_outbound::Connection;
use tokio::time::Instant;
use url::Url;

/// Maximum number of idle connections to one address of one receiver.
const MAX_PER_KEY: usize = 32;
/// Maximum number of idle connections in total. Each holds a socket and a few KiB.
const MAX_KEPT: usize = 512;
/// Longest time that a connection stays idle. It is shorter than the five seconds for which most servers keep idle
/// connections: if a server closes a connection while a request is being sent, the attempt fails, because the server
/// may have read the request.
const MAX_IDLE: Duration = Duration::from_secs(4);

/// The peer of a connection: the certificate was verified for this host, and the address was vetted for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    origin: String,
    address: SocketAddr,
}

impl Key {
    pub(crate) fn new(url: &Url, address: SocketAddr) -> Self {
        Self { origin: url.origin().ascii_serialization(), address }
    }
}

#[derive(Debug)]
struct IdleConnection {
    connection: Connection,
    since: Instant,
}

/// Idle and shared connections, by peer.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    kept: Mutex<HashMap<Key, Vec<IdleConnection>>>,
}

impl Pool {
    /// Returns a connection to the first of these addresses that has one: a shared HTTP/2 connection, or the
    /// newest HTTP/1.1 connection, which leaves the pool.
    pub(crate) fn take(&self, url: &Url, addresses: &[SocketAddr]) -> Option<(SocketAddr, Connection)> {
        let mut connections_by_target = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for address in addresses {
            let Some(connections) = connections_by_target.get_mut(&Key::new(url, *address)) else { continue };
            connections.retain(IdleConnection::is_good);
            if let Some(shared) = connections.iter().find_map(|idle| idle.connection.share()) {
                return Some((*address, shared));
            }
            if let Some(connection) = connections.pop() {
                return Some((*address, connection.connection));
            }
        }
        None
    }

    /// Puts a connection into the pool for the next request, or closes it if the pool is full.
    pub(crate) fn put(&self, key: Key, connection: Connection) {
        let mut connections_by_target = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let count = |kept: &HashMap<Key, Vec<IdleConnection>>| kept.values().map(Vec::len).sum::<usize>();
        if count(&connections_by_target) >= MAX_KEPT {
            connections_by_target.values_mut().for_each(|connections| connections.retain(IdleConnection::is_good));
            connections_by_target.retain(|_, connections| !connections.is_empty());
            if count(&connections_by_target) >= MAX_KEPT {
                return;
            }
        }
        let connections = connections_by_target.entry(key).or_default();
        connections.retain(IdleConnection::is_good);
        let now = Instant::now();
        let shared = connections.iter_mut().find(|idle| idle.connection.is_shared() && connection.is_shared());
        if let Some(same) = shared {
            same.since = now;
        } else if connections.len() < MAX_PER_KEY {
            connections.push(IdleConnection { connection, since: now });
        }
    }

    /// Drops the shared connections to a receiver after one of them did not respond.
    pub(crate) fn forget_shared(&self, key: &Key) {
        let mut connections_by_target = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connections) = connections_by_target.get_mut(key) {
            connections.retain(|idle| !idle.connection.is_shared());
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).values().map(Vec::len).sum()
    }

    /// Closes connections that were idle for too long.
    pub(crate) fn sweep(&self) {
        let mut connections_by_target = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        connections_by_target.values_mut().for_each(|connections| connections.retain(IdleConnection::is_good));
        connections_by_target.retain(|_, connections| !connections.is_empty());
    }
}

impl IdleConnection {
    fn is_good(&self) -> bool {
        self.since.elapsed() < MAX_IDLE && self.connection.is_good()
    }
}
