//! Turns: each tenant after the other, and each lane of a tenant after the other.

use std::collections::{HashMap, VecDeque};

use candor_domain::access::Tenant;
use candor_domain::id::WebhookId;
use candor_port_storage::queue::Lane;

/// Lanes in the order of their turns.
#[derive(Debug, Default)]
pub(super) struct Ring {
    tenants: VecDeque<Tenant>,
    lanes: HashMap<Tenant, VecDeque<WebhookId>>,
    len: usize,
}

impl Ring {
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Puts a lane at the end of its tenant's.
    pub(super) fn push(&mut self, (tenant, webhook): Lane) {
        let lanes = self.lanes.entry(tenant).or_default();
        if lanes.is_empty() {
            self.tenants.push_back(tenant);
        }
        lanes.push_back(webhook);
        self.len += 1;
    }

    /// Takes the lane whose turn it is; its tenant is at the end then.
    pub(super) fn pop(&mut self) -> Option<Lane> {
        let tenant = self.tenants.pop_front()?;
        let lanes = self.lanes.get_mut(&tenant)?;
        let webhook = lanes.pop_front()?;
        self.len -= 1;
        if lanes.is_empty() {
            self.lanes.remove(&tenant);
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
    fn tenants_take_turns_and_so_do_the_lanes_of_each() {
        let lane = |tenant, webhook| {
            (Tenant::live(OrganizationId::from_ulid(Ulid(tenant))), WebhookId::from_ulid(Ulid(webhook)))
        };
        let mut ring = Ring::default();
        for webhook in 1..=3 {
            ring.push(lane(1, webhook));
        }
        ring.push(lane(2, 9));
        assert_eq!(ring.len(), 4);
        let order: Vec<_> = (0..8)
            .map(|_| {
                let it = ring.pop().unwrap();
                ring.push(it);
                it
            })
            .collect();
        let (a, b, c, other) = (lane(1, 1), lane(1, 2), lane(1, 3), lane(2, 9));
        assert_eq!(order, [a, other, b, other, c, other, a, other]);
        while ring.pop().is_some() {}
        assert_eq!((ring.len(), ring.pop()), (0, None));
    }
}
