//! Limits the connections per client.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::connection::address::{self, Network};

/// Limit of the open connections per client address, with their number; IPv6 addresses are grouped by site.
#[derive(Debug)]
pub(crate) struct Connections {
    most: usize,
    exempt: Vec<Network>,
    open: Mutex<HashMap<[u8; 16], usize>>,
}

impl Connections {
    /// Creates the limit of `most` connections per address. Trusted proxies in `exempt` are not limited, because
    /// they serve many clients.
    pub(crate) fn with_limit(most: usize, exempt: Vec<Network>) -> Arc<Self> {
        Arc::new(Self { most, exempt, open: Mutex::default() })
    }

    /// Counts a connection until the permit is dropped. Returns `None` if the client has too many.
    pub(crate) fn admit(self: &Arc<Self>, peer: Option<IpAddr>) -> Option<ConnectionPermit> {
        let Some(peer) = peer.map(|peer| peer.to_canonical()) else { return Some(ConnectionPermit(None)) };
        if self.exempt.iter().any(|network| network.contains(peer)) {
            return Some(ConnectionPermit(None));
        }
        let bucket = address::bucket(peer);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(bucket).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(ConnectionPermit(Some((Arc::clone(self), bucket))))
    }

    fn leave(&self, bucket: [u8; 16]) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&bucket) {
            *count -= 1;
            if *count == 0 {
                open.remove(&bucket);
            }
        }
    }
}

/// Permit for one connection.
#[derive(Debug)]
pub(crate) struct ConnectionPermit(Option<(Arc<Connections>, [u8; 16])>);

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        if let Some((connections, bucket)) = self.0.take() {
            connections.leave(bucket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> Option<IpAddr> {
        text.parse().ok()
    }

    #[test]
    fn connections_of_a_client_are_limited_until_one_closes() {
        let all = Connections::with_limit(2, vec![]);
        let first = all.admit(ip("192.0.2.1"));
        let second = all.admit(ip("::ffff:192.0.2.1"));
        assert!(first.is_some() && second.is_some());
        assert!(all.admit(ip("192.0.2.1")).is_none());
        assert!(all.admit(ip("192.0.2.2")).is_some(), "another client");
        drop(first);
        let third = all.admit(ip("192.0.2.1"));
        assert!(third.is_some());
        assert!(all.admit(ip("192.0.2.1")).is_none());
        drop((second, third));
        assert!(all.open.lock().unwrap().is_empty(), "nothing is kept of clients that are gone");
    }

    #[test]
    fn ipv6_site_counts_as_one_client() {
        let all = Connections::with_limit(1, vec![]);
        let _first = all.admit(ip("2001:db8:1:2::1")).unwrap();
        assert!(all.admit(ip("2001:db8:1:2:ffff::9")).is_none());
        assert!(all.admit(ip("2001:db8:1:3::1")).is_some());
    }

    #[test]
    fn trusted_proxy_has_no_connection_limit() {
        let all = Connections::with_limit(1, vec!["10.0.0.0/8".parse().unwrap()]);
        let places: Vec<_> = ["10.0.0.1", "10.0.0.1", "::ffff:10.0.0.1"].map(|name| all.admit(ip(name))).into();
        assert!(places.iter().all(Option::is_some));
    }
}
