//! A queue in which organizations take turns.

use std::collections::{HashMap, VecDeque};

use candor_domain::access::Tenant;
use candor_domain::id::OrganizationId;

/// A queue with round robin over organizations. The items of one organization keep their order, also those of its
/// two data sets. The first item of an organization waits for at most one item of each other organization.
#[derive(Debug)]
pub struct FairQueue<T> {
    /// Items by organization; `None` is the service's own work. Each organization has at least one item.
    waiting: HashMap<Option<OrganizationId>, Items<T>>,
    /// Organizations with items, the next one first.
    turns: VecDeque<Option<OrganizationId>>,
}

/// The items of one organization, each list in its order.
#[derive(Debug)]
struct Items<T> {
    /// Items before all of `rest`.
    first: VecDeque<T>,
    rest: VecDeque<T>,
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self { first: VecDeque::new(), rest: VecDeque::new() }
    }
}

impl<T> Items<T> {
    fn pop_front(&mut self) -> Option<T> {
        self.first.pop_front().or_else(|| self.rest.pop_front())
    }

    fn is_empty(&self) -> bool {
        self.first.is_empty() && self.rest.is_empty()
    }
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        Self { waiting: HashMap::new(), turns: VecDeque::new() }
    }
}

impl<T> FairQueue<T> {
    /// Appends an item to those of its organization.
    pub fn push(&mut self, tenant: Option<Tenant>, item: T) {
        let owner = tenant.map(|tenant| tenant.organization);
        self.begin_turn(owner).rest.push_back(item);
    }

    /// Inserts an item before those of its organization that were appended by [`Self::push`], and behind those that
    /// were inserted by this function. The turn of the organization does not come sooner.
    pub fn push_ahead(&mut self, tenant: Option<Tenant>, item: T) {
        let owner = tenant.map(|tenant| tenant.organization);
        self.begin_turn(owner).first.push_back(item);
    }

    /// Returns the items of an organization, which takes part in the turns from now on.
    fn begin_turn(&mut self, owner: Option<OrganizationId>) -> &mut Items<T> {
        let items = self.waiting.entry(owner).or_default();
        if items.is_empty() {
            self.turns.push_back(owner);
        }
        items
    }

    /// Puts back an item that was taken and not used: before the other items of its organization, which gets the
    /// next turn.
    pub fn put_back(&mut self, tenant: Option<Tenant>, item: T) {
        let owner = tenant.map(|tenant| tenant.organization);
        let items = self.waiting.entry(owner).or_default();
        if !items.is_empty() {
            self.turns.retain(|other| *other != owner);
        }
        self.turns.push_front(owner);
        items.first.push_front(item);
    }

    /// Takes the first item of the next organization.
    pub fn pop(&mut self) -> Option<T> {
        self.pop_if(|_| true).map(|(_, item)| item)
    }

    /// Takes the first item of the next organization that may have one, and returns it with its organization. The
    /// skipped organizations keep their places.
    pub fn pop_if(
        &mut self,
        may_have: impl Fn(Option<OrganizationId>) -> bool,
    ) -> Option<(Option<OrganizationId>, T)> {
        let place = self.turns.iter().position(|owner| may_have(*owner))?;
        let owner = self.turns.remove(place)?;
        let items = self.waiting.get_mut(&owner)?;
        let item = items.pop_front();
        if items.is_empty() {
            self.waiting.remove(&owner);
        } else {
            self.turns.push_back(owner);
        }
        item.map(|item| (owner, item))
    }

    /// Returns the items in any order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.waiting.values().flat_map(|items| items.first.iter().chain(&items.rest))
    }

    /// Returns `true` if the queue has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Drops all items.
    pub fn clear(&mut self) {
        self.waiting.clear();
        self.turns.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::access::Environment;

    fn tenant(number: u8) -> Option<Tenant> {
        Some(Tenant::live(OrganizationId::from_bytes([number; 16])))
    }

    fn take_all<T>(queue: &mut FairQueue<T>) -> Vec<T> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn organizations_with_items_are_served_in_turn() {
        let mut queue = FairQueue::default();
        for item in ["a1", "a2", "a3", "a4"] {
            queue.push(tenant(1), item);
        }
        queue.push(tenant(2), "b1");
        queue.push(None, "own");
        queue.push(tenant(2), "b2");
        assert_eq!(take_all(&mut queue), ["a1", "b1", "own", "a2", "b2", "a3", "a4"]);
    }

    #[test]
    fn both_data_sets_of_an_organization_share_its_turn() {
        let mut queue = FairQueue::default();
        let test = tenant(1).map(|tenant| Tenant { environment: Environment::Test, ..tenant });
        for (owner, item) in [(tenant(1), "live1"), (test, "test1"), (tenant(1), "live2"), (tenant(2), "b1")] {
            queue.push(owner, item);
        }
        assert_eq!(take_all(&mut queue), ["live1", "b1", "test1", "live2"]);
    }

    #[test]
    fn organization_that_comes_late_waits_for_one_item() {
        let mut queue = FairQueue::default();
        (0..100).for_each(|number| queue.push(tenant(1), number));
        assert_eq!(queue.pop(), Some(0));
        queue.push(tenant(2), 1_000);
        assert_eq!([queue.pop(), queue.pop(), queue.pop()], [Some(1), Some(1_000), Some(2)]);
    }

    #[test]
    fn inserted_item_comes_first_in_its_organization() {
        let mut queue = FairQueue::default();
        for (owner, item) in [(1, "a1"), (1, "a2"), (2, "b1")] {
            queue.push(tenant(owner), item);
        }
        for (owner, item) in [(1, "a inserted first"), (1, "a inserted second"), (3, "c1")] {
            queue.push_ahead(tenant(owner), item);
        }
        assert_eq!(queue.iter().count(), 6);
        assert_eq!(take_all(&mut queue), ["a inserted first", "b1", "c1", "a inserted second", "a1", "a2"]);
    }

    #[test]
    fn items_that_are_put_back_are_taken_as_before() {
        let mut queue = FairQueue::default();
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
        assert_eq!(take_all(&mut queue), ["a1", "b1", "c1", "a2", "a3"]);
    }

    #[test]
    fn organization_that_may_have_nothing_keeps_its_place() {
        let mut queue = FairQueue::default();
        for (owner, item) in [(1, "a1"), (2, "b1"), (2, "b2"), (3, "c1")] {
            queue.push(tenant(owner), item);
        }
        let first = tenant(1).map(|tenant| tenant.organization);
        let mut pop_other = || queue.pop_if(|owner| owner != first).map(|(_, item)| item);
        assert_eq!(
            [pop_other(), pop_other(), pop_other(), pop_other()],
            [Some("b1"), Some("c1"), Some("b2"), None]
        );
        assert_eq!(take_all(&mut queue), ["a1"]);
    }

    #[test]
    fn organization_without_items_is_forgotten() {
        let mut queue = FairQueue::default();
        queue.push(tenant(1), 1);
        assert_eq!(take_all(&mut queue), [1]);
        assert!(queue.is_empty() && queue.waiting.is_empty());
        queue.push(tenant(1), 2);
        queue.clear();
        assert_eq!(queue.pop(), None);
    }
}
