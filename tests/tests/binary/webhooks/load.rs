//! Clients that write without pause.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};

use super::fixtures::observe;
use crate::support::Client;

const WRITERS: usize = 3;

/// Writers that run until the service they write to is gone.
pub(super) struct Load<'scope> {
    writers: Vec<ScopedJoinHandle<'scope, BTreeSet<String>>>,
}

impl<'scope> Load<'scope> {
    pub(super) fn start<'env>(
        scope: &'scope thread::Scope<'scope, 'env>,
        address: SocketAddr,
        key: &'env str,
        employee: &'env str,
        acknowledged: &'env AtomicUsize,
    ) -> Self {
        let write = move || {
            let mut known_ids = BTreeSet::new();
            let Ok(mut client) = Client::connect(address, key) else { return known_ids };
            while let Ok(id) = observe(&mut client, employee) {
                known_ids.insert(id);
                acknowledged.fetch_add(1, Ordering::SeqCst);
            }
            known_ids
        };
        Self { writers: (0..WRITERS).map(|_| scope.spawn(write)).collect() }
    }

    /// Waits for the writers to end. Returns the acknowledged observations.
    pub(super) fn join(self) -> BTreeSet<String> {
        self.writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    }
}
