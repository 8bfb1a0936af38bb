//! Failing subscriptions: when the event `webhook.failing` is due, and to which subscriptions events about
//! subscriptions are sent (decisions F3, F9).

use candor_domain::decision::Decision;
use candor_domain::event::{Event, EventData, EventType};
use candor_domain::time::Timestamp;
use serde::Deserialize;

use super::{AttemptOutcome, DeliveryOrigin, HealthDelta, Job, Status, Subscription};

/// Number of failed attempts of one delivery that make its subscription failing.
pub const FAILING_AFTER_ATTEMPTS: u16 = 5;

/// Returns `true` for events about a subscription.
const fn is_about_subscription(kind: EventType) -> bool {
    matches!(kind.data(), EventData::Webhook)
}

impl Job {
    /// Returns the change of the subscription's health by the next attempt, if it has this result and ends at
    /// `at`.
    ///
    /// An attempt that not all readers of the subscription may see counts for its deactivation alone: neither the
    /// subscription nor the event `webhook.failing` tells of it (decision F9).
    /// A failed delivery of an event about a subscription does not make the subscription that gets it failing.
    /// Otherwise, if the receivers of two subscriptions reject only such events, each failure would cause an event
    /// for the other subscription without end.
    #[must_use]
    pub fn health(&self, outcome: AttemptOutcome, status: Status, at: Timestamp) -> HealthDelta {
        let counts = self.origin != DeliveryOrigin::Test;
        let delta = HealthDelta::from_attempt(outcome, status, counts, at);
        let fails = outcome != AttemptOutcome::Acknowledged
            && self.attempt == FAILING_AFTER_ATTEMPTS
            && counts
            && !is_about_subscription(self.event_type);
        let delta = if fails { delta.mark_failing() } else { delta };
        if self.event_type.is_hidden_in_log() { delta.hide() } else { delta }
    }
}

/// The subscription that an event is about: the id in its data.
#[derive(Deserialize)]
struct EventSubject {
    id: String,
}

impl Subscription {
    /// Fires `webhook.failing`; returns `None` if it is not due. The subscription itself does not change for clients.
    #[must_use]
    pub fn report_failing(&self) -> Option<Decision<Self>> {
        self.failing_due?;
        let state = Self { failing_due: None, ..self.clone() };
        Some(Decision::for_change(self, state, "webhook.report_failing", vec![EventType::WebhookFailing]))
    }

    /// Returns `true` if events of this type must be checked with [`Subscription::may_get`] before they are
    /// delivered again.
    #[must_use]
    pub const fn may_be_about_itself(kind: EventType) -> bool {
        is_about_subscription(kind)
    }

    /// Returns `true` if the event may be delivered: a subscription is not told about itself.
    #[must_use]
    pub fn may_get(&self, event: &Event) -> bool {
        let is_about_itself = || {
            let subject = serde_json::from_str::<EventSubject>(&event.data);
            subject.is_ok_and(|subject| subject.id == self.id.to_string())
        };
        !(is_about_subscription(event.kind) && is_about_itself())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Streak;
    use super::super::tests::{NOON, subscription};
    use super::*;
    use candor_domain::access::{Environment, Tenant};
    use candor_domain::attempt_failure::FailureReason;
    use candor_domain::fields::StringEnum;
    use candor_domain::id::{EventId, OrganizationId, WebhookId};
    use ulid::Ulid;

    const FAILED: AttemptOutcome = AttemptOutcome::Failed(FailureReason::Status);

    fn job(attempt: u16, kind: EventType, origin: DeliveryOrigin) -> Job {
        let tenant = Tenant { organization: OrganizationId::from_ulid(Ulid(2)), environment: Environment::Live };
        let event = (EventId::from_ulid(Ulid(7)), kind);
        Job { attempt, ..Job::new(tenant, subscription().id, event, NOON, origin) }
    }

    #[test]
    fn only_the_fifth_failure_makes_a_subscription_failing() {
        let failing = |attempt, kind, origin| {
            let delta = job(attempt, kind, origin).health(FAILED, Status::Failed, NOON);
            assert_eq!(delta.streak.is_failing, delta.fails_at.is_some());
            delta.fails_from(Streak::default()).is_some()
        };
        for attempt in 1..=7 {
            for origin in [DeliveryOrigin::Event, DeliveryOrigin::Replay] {
                assert_eq!(failing(attempt, EventType::EmployeeCreated, origin), attempt == 5, "{attempt}");
            }
        }
        assert!(!failing(5, EventType::TestPing, DeliveryOrigin::Test));
        assert!(!failing(5, EventType::WebhookFailing, DeliveryOrigin::Event));
        assert!(!failing(5, EventType::WebhookDisabled, DeliveryOrigin::Replay));
        for hidden in EventType::ALL.iter().copied().filter(|kind| kind.is_hidden_in_log()) {
            assert!(!failing(5, hidden, DeliveryOrigin::Event), "{hidden:?}");
        }
        let good = job(5, EventType::EmployeeCreated, DeliveryOrigin::Event);
        let good = good.health(AttemptOutcome::Acknowledged, Status::Success, NOON);
        assert_eq!((good.fails_at, good.streak), (None, Streak::default()));
    }

    #[test]
    fn batched_failures_are_reported_like_single_ones() {
        let (kind, hidden_kind) = (EventType::EmployeeCreated, EventType::EmployeeHoldChanged);
        let attempts = [
            job(5, kind, DeliveryOrigin::Event).health(FAILED, Status::Failed, NOON),
            job(1, kind, DeliveryOrigin::Event).health(FAILED, Status::Failed, NOON),
            job(1, kind, DeliveryOrigin::Event).health(AttemptOutcome::Acknowledged, Status::Success, NOON),
            job(5, hidden_kind, DeliveryOrigin::Event).health(AttemptOutcome::Acknowledged, Status::Success, NOON),
        ];
        // Every sequence of five attempts, from a streak that is failing or not, split at every position.
        for number in 0..4_usize.pow(5) {
            let deltas: Vec<_> = (0..5).map(|at| (at, attempts[number / 4_usize.pow(at) % 4])).collect();
            let deltas: Vec<_> = deltas
                .into_iter()
                .map(|(at, delta)| {
                    let last_at = NOON.plus_seconds(at.into());
                    HealthDelta { last_at, fails_at: delta.fails_at.map(|_| last_at), ..delta }
                })
                .collect();
            for is_failing in [false, true] {
                let streak_before = (Streak { is_failing, ..Streak::default() }, None);
                let add = |(streak, due): (Streak, Option<Timestamp>), delta: HealthDelta| {
                    (delta.apply_to(streak), due.or_else(|| delta.fails_from(streak)))
                };
                let one_by_one = deltas.iter().copied().fold(streak_before, add);
                for cut in 0..=5 {
                    let (first, second) = deltas.split_at(cut);
                    let halves = [first, second].map(|part| part.iter().copied().reduce(HealthDelta::and));
                    let (streak, due) = halves.into_iter().flatten().fold(streak_before, add);
                    assert_eq!(
                        (streak.is_failing, due),
                        (one_by_one.0.is_failing, one_by_one.1),
                        "{number} cut at {cut}"
                    );
                }
            }
        }
    }

    #[test]
    fn attempt_that_the_log_hides_changes_the_deactivation_alone() {
        let streak = Streak { failures: 7, since: Some(NOON), is_failing: true };
        let hidden_job = job(5, EventType::EmployeeHoldChanged, DeliveryOrigin::Event);
        let failure = hidden_job.health(FAILED, Status::Failed, NOON);
        let success = hidden_job.health(AttemptOutcome::Acknowledged, Status::Success, NOON);
        assert_eq!(failure.apply_to(streak), Streak { failures: 8, ..streak });
        assert_eq!(success.apply_to(streak), Streak { failures: 0, since: None, is_failing: true });
        let healthy_streak = Streak { is_failing: false, ..streak };
        for delta in [failure, success, failure.and(success), success.and(failure)] {
            assert!(!delta.apply_to(healthy_streak).is_failing && delta.fails_from(healthy_streak).is_none());
            assert!(delta.apply_to(streak).is_failing && delta.shown.is_none());
        }
    }

    #[test]
    fn due_event_is_fired_without_a_visible_change() {
        assert_eq!(subscription().report_failing(), None);
        let due_subscription = Subscription { failing_due: Some(NOON), ..subscription() };
        let decision = due_subscription.report_failing().unwrap();
        assert_eq!(decision.state, subscription());
        assert_eq!(decision.events, [EventType::WebhookFailing]);
        assert!(decision.audit.changes.is_empty() && decision.notices.is_empty());
    }

    #[test]
    fn subscription_does_not_get_events_about_itself() {
        let subscription = subscription();
        let other = Subscription { id: WebhookId::from_ulid(Ulid(99)), ..subscription.clone() };
        for kind in EventType::ALL {
            let data = serde_json::to_string(&subscription.for_events()).unwrap();
            let event =
                Event { id: EventId::from_ulid(Ulid(1)), kind: *kind, created_at: NOON, data, request_id: None };
            let is_own = matches!(kind, EventType::WebhookDisabled | EventType::WebhookFailing);
            assert_eq!(Subscription::may_be_about_itself(*kind), is_own);
            assert_eq!((subscription.may_get(&event), other.may_get(&event)), (!is_own, true), "{kind:?}");
        }
    }
}
