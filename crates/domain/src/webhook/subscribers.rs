//! How many subscriptions a data set has, and how many deliveries its events make (decision F10).

use crate::event::EventType;
use crate::problem::{Code, Flaw};
use crate::refusal::Refusal;

/// The most subscriptions of a data set, unless the operator says otherwise (decision F10).
pub const MAX_SUBSCRIPTIONS: u32 = 100;

/// The subscriptions of a data set, each as the event types that it is told of now, as bits: see
/// [`Topics::bits`](super::Topics::bits).
///
/// ```
/// use candor_domain::event::EventType;
/// use candor_domain::webhook::Subscribers;
///
/// // One is told of everything, one of new people, and one is not active.
/// let subscribers = Subscribers::new([-1, EventType::EmployeeCreated.bit(), 0]);
/// assert_eq!(subscribers.count(), 3);
/// assert_eq!(subscribers.deliveries_of([EventType::EmployeeCreated, EventType::EmployeeUpdated]), 3);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subscribers(Vec<i64>);

impl Subscribers {
    /// The subscriptions with these sets of event types; one that is not active has none.
    pub fn new(wanted: impl IntoIterator<Item = i64>) -> Self {
        Self(wanted.into_iter().collect())
    }

    /// How many there are, those included that are not active.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    /// How many deliveries are queued when these events fire.
    pub fn deliveries_of(&self, events: impl IntoIterator<Item = EventType>) -> usize {
        let wanting = |kind: EventType| self.0.iter().filter(|it| *it & kind.bit() != 0).count();
        events.into_iter().map(wanting).sum()
    }

    /// Whether one more may be made where there may be `most`. Whoever has more already keeps them.
    ///
    /// # Errors
    /// [`Refusal::Unprocessable`] (decision F10).
    pub fn admit(&self, most: u32) -> Result<(), Refusal> {
        if usize::try_from(most).is_ok_and(|most| self.count() >= most) {
            let message = format!("must be at most {most} in a data set, inactive ones included; delete one first");
            return Err(Refusal::unprocessable("webhooks", Flaw::new(Code::LimitReached, message)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_more_is_made_below_the_limit_and_none_at_it_or_above() {
        let refused = |count, most| Subscribers::new(vec![0; count]).admit(most).is_err();
        assert_eq!(
            [(0, 1), (1, 1), (99, 100), (100, 100), (101, 100)].map(|(count, most)| refused(count, most)),
            [false, true, false, true, true]
        );
    }

    #[test]
    fn an_event_makes_a_delivery_for_each_active_subscription_that_wants_it() {
        let kinds = [EventType::EmployeeCreated, EventType::EmployeeCreated, EventType::ObjectiveArchived];
        let one = EventType::EmployeeCreated.bit();
        for (wanted, deliveries) in [(vec![], 0), (vec![0, 0], 0), (vec![-1], 3), (vec![one, -1, 0], 5)] {
            assert_eq!(Subscribers::new(wanted.clone()).deliveries_of(kinds), deliveries, "{wanted:?}");
        }
    }
}
