//! What is known of data sets for a while.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use candor_domain::access::Tenant;

/// So many are remembered at the most, which takes some ten megabytes; of all it is found out again then.
const MOST: usize = 100_000;

/// Something about each of them, that is found out again after this time.
#[derive(Debug)]
pub(crate) struct Remembered<T> {
    time: Duration,
    found: RwLock<HashMap<Tenant, (T, Instant)>>,
}

impl<T: Copy> Remembered<T> {
    /// Nothing yet.
    pub(crate) fn lasting(time: Duration) -> Self {
        Self { time, found: RwLock::default() }
    }

    /// What was found out lately.
    pub(crate) fn get(&self, tenant: Tenant) -> Option<T> {
        self.get_at(tenant, Instant::now())
    }

    /// This was found out just now.
    pub(crate) fn set(&self, tenant: Tenant, it: T) {
        self.set_at(tenant, it, Instant::now());
    }

    fn get_at(&self, tenant: Tenant, now: Instant) -> Option<T> {
        let found = self.found.read().unwrap_or_else(PoisonError::into_inner);
        found.get(&tenant).filter(|(_, at)| now.duration_since(*at) < self.time).map(|(it, _)| *it)
    }

    fn set_at(&self, tenant: Tenant, it: T, now: Instant) {
        let mut found = self.found.write().unwrap_or_else(PoisonError::into_inner);
        if found.len() >= MOST {
            found.clear();
        }
        found.insert(tenant, (it, now));
    }
}

#[cfg(test)]
mod tests {
    use candor_domain::id::Id;

    use super::*;

    fn tenant(number: usize) -> Tenant {
        Tenant::live(Id::from_bytes((number as u128).to_be_bytes()))
    }

    #[test]
    fn what_was_found_is_known_until_its_time_is_over() {
        let (remembered, now) = (Remembered::lasting(Duration::from_secs(30)), Instant::now());
        assert_eq!(remembered.get_at(tenant(1), now), None);
        remembered.set_at(tenant(1), 'a', now);
        let late = now + Duration::from_secs(20);
        remembered.set_at(tenant(2), 'b', late);
        assert_eq!(remembered.get_at(tenant(1), now + Duration::from_millis(29_999)), Some('a'));
        assert_eq!(remembered.get_at(tenant(1), now + Duration::from_secs(30)), None);
        assert_eq!(remembered.get_at(tenant(2), late + Duration::from_secs(29)), Some('b'));
        remembered.set_at(tenant(1), 'c', late);
        assert_eq!(remembered.get_at(tenant(1), late), Some('c'));
    }

    #[test]
    fn no_more_is_known_than_there_is_room_for() {
        let remembered = Remembered::lasting(Duration::from_secs(30));
        (0..=MOST).for_each(|it| remembered.set(tenant(it), it));
        assert_eq!(remembered.found.read().unwrap().len(), 1);
        assert_eq!(remembered.get(tenant(MOST)), Some(MOST));
    }
}
