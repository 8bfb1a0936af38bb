//! Round robin over tenants, and over the queues of each tenant.

use std::collections::{HashMap, VecDeque};

use candor_domain::access::Tenant;
use candor_domain::id::WebhookId;
use candor_port_storage::queue::QueueKey;

/// Queues in the order of their turns.
#[derive(Debug, Default)]
pub(super) struct RoundRobin {
    tenants: VecDeque<Tenant>,
    queues: HashMap<Tenant, VecDeque<WebhookId>>,
    len: usize,
}

impl RoundRobin {
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Appends a queue to those of its tenant.
    pub(super) fn push(&mut self, (tenant, webhook): QueueKey) {
        let queues = self.queues.entry(tenant).or_default();
        if queues.is_empty() {
            self.tenants.push_back(tenant);
        }
        queues.push_back(webhook);
        self.len += 1;
    }

    /// Takes the next queue and moves its tenant to the end.
    pub(super) fn pop(&mut self) -> Option<QueueKey> {
        let tenant = self.tenants.pop_front()?;
        let queues = self.queues.get_mut(&tenant)?;
        let webhook = queues.pop_front()?;
        self.len -= 1;
        if queues.is_empty() {
            self.queues.remove(&tenant);
        } else {
            self.tenants.push_back(tenant);
        }
        Some((tenant, webhook))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::id::OrganizationId;
    use ulid::Ulid;

    #[test]
    fn tenants_take_turns_and_so_do_their_queues() {
        let queue = |tenant, webhook| {
            (Tenant::live(OrganizationId::from_ulid(Ulid(tenant))), WebhookId::from_ulid(Ulid(webhook)))
        };
        let mut ring = RoundRobin::default();
        for webhook in 1..=3 {
            ring.push(queue(1, webhook));
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
        let (a, b, c, other) = (queue(1, 1), queue(1, 2), queue(1, 3), queue(2, 9));
        assert_eq!(order, [a, other, b, other, c, other, a, other]);
        while ring.pop().is_some() {}
        assert_eq!((ring.len(), ring.pop()), (0, None));
    }
}
