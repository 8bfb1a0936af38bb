//! Round robin over organizations, and over the queues of each organization.

use crate::HashMap;
use std::collections::VecDeque;

use candor_domain::id::OrganizationId;
use candor_port_storage::queue::QueueKey;

/// Queues in the order of their turns.
#[derive(Debug, Default)]
pub(super) struct RoundRobin {
    owners: VecDeque<OrganizationId>,
    /// Queues of both data sets of an organization. No list is empty.
    queues: HashMap<OrganizationId, VecDeque<QueueKey>>,
    len: usize,
}

impl RoundRobin {
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Appends a queue to those of its organization.
    pub(super) fn push(&mut self, queue: QueueKey) {
        let owner = queue.0.organization;
        let queues = self.queues.entry(owner).or_default();
        if queues.is_empty() {
            self.owners.push_back(owner);
        }
        queues.push_back(queue);
        self.len += 1;
    }

    /// Takes the next queue and moves its organization to the end.
    pub(super) fn pop(&mut self) -> Option<QueueKey> {
        let owner = self.owners.pop_front()?;
        let queues = self.queues.get_mut(&owner)?;
        let queue = queues.pop_front()?;
        self.len -= 1;
        if queues.is_empty() {
            self.queues.remove(&owner);
        } else {
            self.owners.push_back(owner);
        }
        Some(queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::access::{Environment, Tenant};
    use candor_domain::id::WebhookId;
    use ulid::Ulid;

    #[test]
    fn organizations_take_turns_and_so_do_their_queues() {
        let queue = |tenant, webhook| {
            (Tenant::live(OrganizationId::from_ulid(Ulid(tenant))), WebhookId::from_ulid(Ulid(webhook)))
        };
        let mut ring = RoundRobin::default();
        let (live, webhook) = queue(1, 3);
        let of_test_data = (Tenant { environment: Environment::Test, ..live }, webhook);
        for queue in [queue(1, 1), queue(1, 2), of_test_data] {
            ring.push(queue);
        }
        ring.push(queue(2, 9));
        assert_eq!(ring.len(), 4);
        let order: Vec<_> = (0..8)
            .map(|_| {
                let it = ring.pop().unwrap();
                ring.push(it);
                it
            })
            .collect();
        let (a, b, c, other) = (queue(1, 1), queue(1, 2), of_test_data, queue(2, 9));
        assert_eq!(order, [a, other, b, other, c, other, a, other]);
        while ring.pop().is_some() {}
        assert_eq!((ring.len(), ring.pop()), (0, None));
    }
}
