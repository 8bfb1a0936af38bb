//! Count of the people that a provider deactivated within the period of its brake.

use std::collections::BTreeMap;

use candor_domain::id::ConnectorId;
use candor_domain::time::Timestamp;

use super::{Connector, LinkedPeople};

/// Length of a bucket of the count, in milliseconds. A deactivation counts for an hour and up to one bucket more.
const MINUTE_MILLIS: i64 = 60_000;

/// Deactivations by a provider within the last hour, by minute, in one data set. Each deactivation writes the row,
/// so that concurrent deactivations conflict and together cannot exceed the limit. The size and the cost do not
/// depend on the number of people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrakeCount {
    /// Id of the connector.
    pub id: ConnectorId,
    /// Last resume of the connector when the count was saved. A later resume restarts the count.
    pub resumed_at: Option<Timestamp>,
    /// Number of people whose last deactivation was in a minute, by minute. Minutes are counted from 1970. At most 61
    /// entries.
    pub minutes: BTreeMap<i64, u32>,
    /// Number of linked people that the percentage applies to, as counted last. 0 if they were not counted within the
    /// period.
    pub people: u32,
    /// Time at which the linked people were counted.
    pub counted_at: Option<Timestamp>,
}

/// Answer of the brake to a deactivation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrakeDecision {
    /// The deactivation is allowed. Its transaction saves this count.
    Allowed(BrakeCount),
    /// The last known number of linked people is too small. They must be counted again.
    CountPeople,
    /// The deactivation is refused. The provider deactivated this number of other people within the period.
    Refused(u64),
}

fn minute(at: Timestamp) -> i64 {
    at.millis().div_euclid(MINUTE_MILLIS)
}

impl BrakeCount {
    /// Creates the count of a connector without deactivations.
    #[must_use]
    pub const fn new(id: ConnectorId) -> Self {
        Self { id, resumed_at: None, minutes: BTreeMap::new(), people: 0, counted_at: None }
    }

    /// Returns the count without deactivations before the period. A resume restarts the count.
    fn within_period(&self, connector: &Connector, at: Timestamp) -> Self {
        if self.resumed_at != connector.resumed_at {
            return Self { resumed_at: connector.resumed_at, ..Self::new(self.id) };
        }
        let period_start = connector.brake_since(at);
        let first = minute(period_start);
        let minutes = self.minutes.range(first..).map(|(minute, people)| (*minute, *people)).collect();
        let is_fresh = self.counted_at.is_some_and(|counted_at| counted_at > period_start);
        let (people, counted_at) = if is_fresh { (self.people, self.counted_at) } else { (0, None) };
        Self { minutes, people, counted_at, ..self.clone() }
    }

    /// Returns the count without an earlier deactivation of the same person, so that each person counts once.
    fn without_deactivation(mut self, deactivated_at: Timestamp, connector: &Connector) -> Self {
        let is_counted = connector.resumed_at.is_none_or(|resumed_at| deactivated_at > resumed_at);
        if let Some(people) = self.minutes.get_mut(&minute(deactivated_at)).filter(|_| is_counted) {
            *people = people.saturating_sub(1);
        }
        self
    }
}

impl Connector {
    /// Decides if the brake allows one more deactivation. `earlier` is the time of an earlier deactivation of the
    /// person by this connector, `people` the linked people if they were counted.
    #[must_use]
    pub fn brake_deactivation(
        &self,
        stored: &BrakeCount,
        earlier: Option<Timestamp>,
        people: Option<LinkedPeople>,
        at: Timestamp,
    ) -> BrakeDecision {
        let mut count = stored.within_period(self, at);
        if let Some(earlier) = earlier {
            count = count.without_deactivation(earlier, self);
        }
        if let Some(people) = people {
            (count.people, count.counted_at) = (u32::try_from(people.base()).unwrap_or(u32::MAX), Some(at));
        }
        let others: u64 = count.minutes.values().copied().map(u64::from).sum();
        let base = u64::from(count.people);
        let linked_people = LinkedPeople { at_start: base, now: base };
        if self.brake.allows(others, linked_people) {
            *count.minutes.entry(minute(at)).or_default() += 1;
            count.minutes.retain(|_, people| *people > 0);
            return BrakeDecision::Allowed(count);
        }
        if people.is_none() { BrakeDecision::CountPeople } else { BrakeDecision::Refused(others) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Brake, Draft};
    use super::*;
    use ulid::Ulid;

    const AT: Timestamp = Timestamp::from_millis(100_000_000);

    fn connector(percent: u16, at_least: u32) -> Connector {
        let body = serde_json::from_str(r#"{"type": "scim", "hris_source": "okta"}"#).unwrap();
        let connector = Connector::create(ConnectorId::from_ulid(Ulid(1)), Draft::parse(body).unwrap(), AT).state;
        Connector { brake: Brake { percent, at_least }, ..connector }
    }

    fn linked(people: u64) -> Option<LinkedPeople> {
        Some(LinkedPeople { at_start: people, now: people })
    }

    /// Deactivates people one second after another until the brake refuses. Returns their number and the count.
    fn deactivate_until_refused(
        connector: &Connector,
        stored: &BrakeCount,
        people: u64,
        from: Timestamp,
    ) -> (u64, BrakeCount) {
        let mut count = stored.clone();
        for number in 0..1_000 {
            let deactivation_time = from.plus_seconds(i64::try_from(number).unwrap());
            let mut decision = connector.brake_deactivation(&count, None, None, deactivation_time);
            if decision == BrakeDecision::CountPeople {
                decision = connector.brake_deactivation(&count, None, linked(people), deactivation_time);
            }
            match decision {
                BrakeDecision::Allowed(next) => count = next,
                BrakeDecision::CountPeople | BrakeDecision::Refused(_) => return (number, count),
            }
        }
        panic!("the brake never refuses")
    }

    #[test]
    fn brake_refuses_after_its_limit_and_allows_after_an_hour() {
        let (connector, none) = (connector(20, 20), BrakeCount::new(ConnectorId::from_ulid(Ulid(1))));
        for (people, limit) in [(10, 19), (100, 20), (1_000, 200)] {
            let (number, count) = deactivate_until_refused(&connector, &none, people, AT);
            assert_eq!(number, limit, "{people} people");
            assert!(count.minutes.len() <= 61);
            let end = AT.plus_seconds(3_599);
            assert_eq!(
                connector.brake_deactivation(&count, None, linked(people), end),
                BrakeDecision::Refused(limit)
            );
            let later_time = AT.plus_seconds(3_600 + 60 + i64::try_from(limit).unwrap());
            assert_eq!(
                deactivate_until_refused(&connector, &count, people, later_time).0,
                limit,
                "{people} people later"
            );
        }
    }

    #[test]
    fn second_deactivation_of_a_person_counts_once() {
        let (connector, none) = (connector(50, 1), BrakeCount::new(ConnectorId::from_ulid(Ulid(1))));
        let BrakeDecision::Allowed(count) = connector.brake_deactivation(&none, None, linked(2), AT) else {
            panic!()
        };
        let later_time = AT.plus_seconds(600);
        let second_decision = connector.brake_deactivation(&count, Some(AT), None, later_time);
        let BrakeDecision::Allowed(second_decision) = second_decision else { panic!("{second_decision:?}") };
        assert_eq!(second_decision.minutes, BTreeMap::from([(minute(later_time), 1)]));
        assert_eq!(
            connector.brake_deactivation(&second_decision, None, linked(2), later_time),
            BrakeDecision::Refused(1)
        );
    }

    #[test]
    fn resume_restarts_the_count() {
        let active = connector(50, 1);
        let none = BrakeCount::new(active.id);
        let BrakeDecision::Allowed(count) = active.brake_deactivation(&none, None, linked(2), AT) else {
            panic!()
        };
        let paused_connector = active.pause(1, AT).unwrap().state;
        let resumed_connector = paused_connector.resume(AT.plus_seconds(1)).unwrap().state;
        let decision = resumed_connector.brake_deactivation(&count, Some(AT), linked(2), AT.plus_seconds(2));
        let BrakeDecision::Allowed(restarted) = decision else { panic!("{decision:?}") };
        assert_eq!(restarted.minutes, BTreeMap::from([(minute(AT), 1)]));
        assert_eq!(restarted.resumed_at, resumed_connector.resumed_at);
    }

    #[test]
    fn linked_people_are_counted_once_an_hour() {
        let connector = connector(20, 20);
        let mut count = BrakeCount::new(connector.id);
        let mut counts = 0;
        for second in 0..1_900 {
            let time = AT.plus_seconds(second);
            let mut decision = connector.brake_deactivation(&count, None, None, time);
            if decision == BrakeDecision::CountPeople {
                counts += 1;
                decision = connector.brake_deactivation(&count, None, linked(10_000), time);
            }
            let BrakeDecision::Allowed(next) = decision else { panic!("{decision:?}") };
            count = next;
        }
        assert_eq!(counts, 1);
    }
}
