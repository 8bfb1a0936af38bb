//! Numbers of subscriptions of a data set, and of the deliveries that its events cause (decision F10).

use candor_domain::event::EventType;
use candor_domain::problem::{Code, ValueError};
use candor_domain::refusal::DomainError;

/// Default for the maximum number of subscriptions of a data set (decision F10).
pub const MAX_SUBSCRIPTIONS: u32 = 100;

/// The subscriptions of a data set, each as the bits of the event types that it gets now: see
/// [`Topics::bits`](super::Topics::bits).
///
/// ```
/// use candor_domain::event::EventType;
/// use candor_subscriptions::Subscribers;
///
/// // One gets every event, one gets new employees, and one is inactive.
/// let subscribers = Subscribers::new([-1, EventType::EmployeeCreated.bit(), 0]);
/// assert_eq!(subscribers.count(), 3);
/// assert_eq!(subscribers.deliveries_of([EventType::EmployeeCreated, EventType::EmployeeUpdated]), 3);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subscribers(Vec<i64>);

impl Subscribers {
    /// Creates the set from the bits of each subscription; an inactive subscription has no bits.
    pub fn new(wanted: impl IntoIterator<Item = i64>) -> Self {
        Self(wanted.into_iter().collect())
    }

    /// Returns the number of subscriptions, including inactive ones.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of deliveries that these events cause.
    pub fn deliveries_of(&self, events: impl IntoIterator<Item = EventType>) -> usize {
        let wanting = |kind: EventType| self.0.iter().filter(|bits| *bits & kind.bit() != 0).count();
        events.into_iter().map(wanting).sum()
    }

    /// Checks that one more subscription is allowed if there may be at most `most`. Existing subscriptions above the
    /// limit stay.
    ///
    /// # Errors
    /// Returns [`DomainError::Unprocessable`] at the limit (decision F10).
    pub fn admit(&self, most: u32) -> Result<(), DomainError> {
        if usize::try_from(most).is_ok_and(|most| self.count() >= most) {
            let message = format!(
                "must be at most {most} subscriptions in a data set, inactive ones included; delete one first"
            );
            return Err(DomainError::unprocessable("webhooks", ValueError::new(Code::LimitReached, message)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscription_at_or_above_the_limit_is_refused() {
        let is_refused = |count, most| Subscribers::new(vec![0; count]).admit(most).is_err();
        assert_eq!(
            [(0, 1), (1, 1), (99, 100), (100, 100), (101, 100)].map(|(count, most)| is_refused(count, most)),
            [false, true, false, true, true]
        );
    }

    #[test]
    fn event_is_delivered_to_each_active_matching_subscription() {
        let kinds = [EventType::EmployeeCreated, EventType::EmployeeCreated, EventType::ObjectiveArchived];
        let one = EventType::EmployeeCreated.bit();
        for (wanted, deliveries) in [(vec![], 0), (vec![0, 0], 0), (vec![-1], 3), (vec![one, -1, 0], 5)] {
            assert_eq!(Subscribers::new(wanted.clone()).deliveries_of(kinds), deliveries, "{wanted:?}");
        }
    }
}
