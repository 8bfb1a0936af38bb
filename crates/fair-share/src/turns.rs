//! A queue in which tenants take turns.

use std::collections::{HashMap, VecDeque};

use candor_domain::access::Tenant;

/// A queue with round robin over tenants. The items of one tenant keep their order. The first item of another
/// tenant waits for at most one item of each tenant.
#[derive(Debug)]
pub struct TenantQueue<T> {
    /// Items by tenant; `None` is the service's own work. No list is empty.
    waiting: HashMap<Option<Tenant>, VecDeque<T>>,
    /// Tenants with items, the next one first.
    turns: VecDeque<Option<Tenant>>,
}

impl<T> Default for TenantQueue<T> {
    fn default() -> Self {
        Self { waiting: HashMap::new(), turns: VecDeque::new() }
    }
}

impl<T> TenantQueue<T> {
    /// Appends an item to those of its tenant.
    pub fn push(&mut self, tenant: Option<Tenant>, item: T) {
        let items = self.waiting.entry(tenant).or_default();
        if items.is_empty() {
            self.turns.push_back(tenant);
        }
        items.push_back(item);
    }

    /// Puts back an item that was taken and not used: before the other items of its tenant, who is next.
    pub fn put_back(&mut self, tenant: Option<Tenant>, item: T) {
        let items = self.waiting.entry(tenant).or_default();
        if !items.is_empty() {
            self.turns.retain(|other| *other != tenant);
        }
        self.turns.push_front(tenant);
        items.push_front(item);
    }

    /// Takes the first item of the next tenant.
    pub fn pop(&mut self) -> Option<T> {
        let tenant = self.turns.pop_front()?;
        let items = self.waiting.get_mut(&tenant)?;
        let item = items.pop_front();
        if items.is_empty() {
            self.waiting.remove(&tenant);
        } else {
            self.turns.push_back(tenant);
        }
        item
    }

    /// Returns `true` if the queue has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Drops the items of all tenants.
    pub fn clear(&mut self) {
        self.waiting.clear();
        self.turns.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::id::OrganizationId;

    fn tenant(number: u8) -> Option<Tenant> {
        Some(Tenant::live(OrganizationId::from_bytes([number; 16])))
    }

    fn taken<T>(queue: &mut TenantQueue<T>) -> Vec<T> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn tenants_with_items_are_served_in_turn() {
        let mut queue = TenantQueue::default();
        for item in ["a1", "a2", "a3", "a4"] {
            queue.push(tenant(1), item);
        }
        queue.push(tenant(2), "b1");
        queue.push(None, "own");
        queue.push(tenant(2), "b2");
        assert_eq!(taken(&mut queue), ["a1", "b1", "own", "a2", "b2", "a3", "a4"]);
    }

    #[test]
    fn tenant_that_comes_late_waits_for_one_item() {
        let mut queue = TenantQueue::default();
        (0..100).for_each(|number| queue.push(tenant(1), number));
        assert_eq!(queue.pop(), Some(0));
        queue.push(tenant(2), 1_000);
        assert_eq!([queue.pop(), queue.pop(), queue.pop()], [Some(1), Some(1_000), Some(2)]);
    }

    #[test]
    fn items_that_are_put_back_are_taken_as_before() {
        let mut queue = TenantQueue::default();
        for (owner, item) in [(1, "a1"), (1, "a2"), (1, "a3"), (2, "b1")] {
            queue.push(tenant(owner), item);
        }
        let mut first: Vec<_> =
            [tenant(1), tenant(2), tenant(1)].map(|owner| (owner, queue.pop().unwrap())).into();
        assert_eq!(first.iter().map(|(_, item)| *item).collect::<Vec<_>>(), ["a1", "b1", "a2"]);
        queue.push(tenant(3), "c1");
        while let Some((owner, item)) = first.pop() {
            queue.put_back(owner, item);
        }
        assert_eq!(taken(&mut queue), ["a1", "b1", "c1", "a2", "a3"]);
    }

    #[test]
    fn tenant_without_items_is_forgotten() {
        let mut queue = TenantQueue::default();
        queue.push(tenant(1), 1);
        assert_eq!(taken(&mut queue), [1]);
        assert!(queue.is_empty() && queue.waiting.is_empty());
        queue.push(tenant(1), 2);
        queue.clear();
        assert_eq!(queue.pop(), None);
    }
}
