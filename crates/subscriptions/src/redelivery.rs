//! Redeliveries and replays that a client requests (decision F9).

use candor_domain::access::{Caller, PermissionError};
use candor_domain::event::{EventType, public_id};
use candor_domain::fields::{Fields, StringEnum, string_enum};
use candor_domain::json::Object;
use candor_domain::problem::{Code, ValidationErrors, ValueError};
use candor_domain::refusal::DomainError;
use candor_domain::rule::{self, Checked, Field, OneOf, Shape};
use candor_domain::time::Timestamp;
use strum::{IntoStaticStr, VariantArray};

use super::change::TOPICS;
use super::{Delivery, Job, LOG_DAYS, Subscription, Topics};

/// Maximum number of events that one replay queues. The response has the position for the next request.
pub const MAX_REPLAYED: usize = 100_000;
const DAY_SECONDS: i64 = 86_400;

const SINCE: Field<Checked<Timestamp>> = Field::with_about(
    "since",
    rule::recent(|| Shape::Recent(LOG_DAYS)),
    "Time of the oldest event to deliver (inclusive), within the last {max} days.",
);
const UNTIL: Field<Checked<Timestamp>> =
    Field::with_about("until", rule::datetime(), "End of the time range (exclusive). Default: now.");
const EVENT_TYPES: Field<Checked<Topics>> = Field::with_about(
    "event_types",
    TOPICS,
    "Event types to deliver, if the subscription has them. Default: all types of the subscription.",
);
const ONLY: Field<OneOf<ReplaySelection>> = Field::with_about(
    "only",
    rule::word(),
    "`failed`: events that were attempted and never acknowledged. `all`: every event of the time range.",
);

/// The selection of events for a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ReplaySelection {
    /// Events that were attempted and never acknowledged.
    Failed,
    /// Every event, including those that were never attempted.
    All,
}

string_enum!(ReplaySelection, "ReplaySelection");

/// The body of a replay, validated on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayOrder {
    /// Start of the replayed time, inclusive.
    pub since: Timestamp,
    /// End of the replayed time, exclusive.
    pub until: Timestamp,
    /// Event types to replay; `None` for all that the subscription has.
    pub event_types: Option<Topics>,
    /// The selection of events within the time.
    pub only: ReplaySelection,
}

impl ReplayOrder {
    /// Reads the body of a replay that is requested at `now`.
    ///
    /// # Errors
    /// Returns every invalid field. Events are kept for 30 days, so `since` must not be earlier than that.
    pub fn parse(body: Object, now: Timestamp) -> Result<Self, ValidationErrors> {
        let mut fields = Fields::new(body);
        let order = Self::read(&mut fields, now);
        fields.finish(order)
    }

    /// Declares and reads the fields of a replay that is requested at `now`.
    pub fn read(fields: &mut Fields, now: Timestamp) -> Option<Self> {
        let start = fields.required(&SINCE.and(|since| {
            let is_in_log = since >= now.plus_seconds(-LOG_DAYS * DAY_SECONDS);
            if is_in_log {
                Ok(since)
            } else {
                Err(out_of_range(format!("must be within the last {LOG_DAYS} days")))
            }
        }));
        let end = fields.present(&UNTIL);
        let event_types = fields.present(&EVENT_TYPES);
        let only = fields.present_or(&ONLY, ReplaySelection::Failed);
        match (start, end) {
            (Some(start), Some(end)) if end < start => {
                fields.problem("until", out_of_range("must not be before since"));
            }
            (Some(start), None) if now < start => {
                fields.problem("since", out_of_range("must not be in the future"));
            }
            _ => {}
        }
        Some(Self { since: start?, until: end.unwrap_or(now), event_types, only })
    }

    /// Returns the event types to replay: the types of the order that the subscription has and the caller may
    /// read, without test events.
    ///
    /// # Errors
    /// The access that the caller lacks for a type that the order names.
    pub fn types(&self, subscription: &Subscription, caller: &Caller) -> Result<Vec<EventType>, PermissionError> {
        let mut types = vec![];
        for kind in EventType::ALL.iter().copied().filter(|kind| *kind != EventType::TestPing) {
            let chosen_types = self.event_types.as_ref();
            if !subscription.effective_event_types.cover(kind)
                || chosen_types.is_some_and(|topics| !topics.cover(kind))
            {
                continue;
            }
            match subscription.may_be_sent_by(caller, kind) {
                Ok(()) => types.push(kind),
                Err(denied) if chosen_types.is_some_and(|topics| topics.name(kind)) => return Err(denied),
                Err(_) => {}
            }
        }
        Ok(types)
    }
}

fn out_of_range(message: impl Into<String>) -> ValueError {
    ValueError::new(Code::OutOfRange, message)
}

/// The current state of the event of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptState {
    /// The event is kept and not queued for the subscription.
    Kept,
    /// The event is queued: the next attempt can be brought forward.
    Queued(Job),
    /// The event was removed because of its age.
    Removed,
    /// The event is about the subscription itself.
    Own,
}

impl Subscription {
    /// Checks that a caller may have events of this type sent to the subscription again (decision F9).
    ///
    /// # Errors
    /// The access that the caller lacks.
    pub fn may_be_sent_by(&self, caller: &Caller, kind: EventType) -> Result<(), PermissionError> {
        self.payload.may_reach(caller, kind)
    }

    /// Checks that the subscription is active, because an inactive one gets no redeliveries.
    ///
    /// # Errors
    /// Returns [`DomainError::Conflict`] for an inactive subscription.
    pub fn require_active(&self, attempted: &str) -> Result<(), DomainError> {
        if self.active { Ok(()) } else { Err(DomainError::transition("active", false, attempted)) }
    }
}

impl Delivery {
    /// Checks that the event can be delivered again. Returns the queued delivery to bring forward, or `None` if
    /// the event must be queued again.
    ///
    /// # Errors
    /// Returns [`DomainError::Conflict`] for a test, which has no stored event, for an event that was removed, and
    /// for an event about the subscription itself.
    pub fn redeliver(&self, event: AttemptState) -> Result<Option<Job>, DomainError> {
        const REDELIVER: &str = "redeliver";
        if self.event_type == EventType::TestPing {
            return Err(DomainError::transition("event_type", self.event_type, REDELIVER));
        }
        match event {
            AttemptState::Kept => Ok(None),
            AttemptState::Queued(job) => Ok(Some(job)),
            AttemptState::Removed => Err(DomainError::transition("event", "removed", REDELIVER)),
            AttemptState::Own => Err(DomainError::transition("event", "about_this_subscription", REDELIVER)),
        }
    }

    /// Returns the id of the event as receivers see it.
    #[must_use]
    pub fn public_event_id(&self) -> String {
        public_id(self.event_type, self.event_id)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOON, codes, object, subscription};
    use super::super::{AttemptOutcome, AttemptResponse, DeliveryOrigin, Schedule};
    use super::*;
    use candor_domain::access::{AccessLevel, Environment, Tenant};
    use candor_domain::id::{DeliveryId, EventId, OrganizationId};
    use candor_test_fixtures::unbound;
    use ulid::Ulid;

    fn parse(body: &str) -> Result<ReplayOrder, ValidationErrors> {
        ReplayOrder::parse(object(body), NOON)
    }

    #[test]
    fn replay_defaults_to_failed_events_until_now() {
        let start = "2026-03-01T11:00:00.000Z".parse().unwrap();
        let expected_order =
            ReplayOrder { since: start, until: NOON, event_types: None, only: ReplaySelection::Failed };
        assert_eq!(parse(r#"{"since":"2026-03-01T11:00:00Z"}"#), Ok(expected_order.clone()));
        assert_eq!(parse(r#"{"since":"2026-03-01T13:00:00+02:00"}"#), Ok(expected_order));
        let all = parse(r#"{"since":"2026-03-01T11:00:00Z","until":"2026-03-01T11:00:00Z","event_types":["employee.created","employee.created"],"only":"all"}"#).unwrap();
        let topics = Topics::from_words(["employee.created"]).unwrap();
        assert_eq!(
            all,
            ReplayOrder { since: start, until: start, event_types: Some(topics), only: ReplaySelection::All }
        );
    }

    #[test]
    fn invalid_field_of_a_replay_is_reported() {
        let table: &[(&str, &[(&str, Code)])] = &[
            ("{}", &[("since", Code::Required)]),
            (r#"{"since":null}"#, &[("since", Code::Required)]),
            (r#"{"since":1}"#, &[("since", Code::InvalidFormat)]),
            (r#"{"since":"2026-03-01"}"#, &[("since", Code::InvalidFormat)]),
            (r#"{"since":"2026-01-30T11:59:59.999Z"}"#, &[("since", Code::OutOfRange)]),
            (r#"{"since":"2026-03-01T12:00:00.001Z"}"#, &[("since", Code::OutOfRange)]),
            (
                r#"{"since":"2026-03-01T11:00:00Z","until":"2026-03-01T10:59:59.999Z"}"#,
                &[("until", Code::OutOfRange)],
            ),
            (r#"{"since":"2026-03-01T11:00:00Z","until":"soon"}"#, &[("until", Code::InvalidFormat)]),
            (r#"{"since":"2026-03-01T11:00:00Z","event_types":[]}"#, &[("event_types", Code::TooShort)]),
            (r#"{"since":"2026-03-01T11:00:00Z","event_types":["x"]}"#, &[("event_types", Code::InvalidEnum)]),
            (r#"{"since":"2026-03-01T11:00:00Z","event_types":"*"}"#, &[("event_types", Code::InvalidFormat)]),
            (r#"{"since":"2026-03-01T11:00:00Z","only":"success"}"#, &[("only", Code::InvalidEnum)]),
            (r#"{"since":"2026-03-01T11:00:00Z","limit":1}"#, &[("limit", Code::UnknownField)]),
            (
                r#"{"since":"2026-03-01T11:00:00Z","until":null,"event_types":null,"only":null}"#,
                &[("until", Code::Required), ("event_types", Code::Required), ("only", Code::Required)],
            ),
            (r#"{"since":"x","only":"x"}"#, &[("since", Code::InvalidFormat), ("only", Code::InvalidEnum)]),
        ];
        for (body, wanted) in table {
            let expected_codes: Vec<_> = wanted.iter().map(|(field, code)| ((*field).to_owned(), *code)).collect();
            assert_eq!(codes(parse(body)), expected_codes, "{body}");
        }
        for edge in ["2026-01-30T12:00:00.000Z", "2026-03-01T12:00:00.000Z"] {
            assert!(parse(&format!(r#"{{"since":"{edge}"}}"#)).is_ok(), "{edge}");
        }
    }

    #[test]
    fn replay_is_limited_to_topics_of_the_subscription() {
        let words = |subscription: &[&str], order: Option<&[&str]>| {
            let topics = |words: &[&str]| Topics::from_words(words.iter().copied()).unwrap();
            let wants = Subscription {
                effective_event_types: topics(subscription),
                ..super::super::tests::subscription()
            };
            let order = ReplayOrder {
                since: NOON,
                until: NOON,
                event_types: order.map(topics),
                only: ReplaySelection::All,
            };
            order
                .types(&wants, &unbound(AccessLevel::Admin))
                .unwrap()
                .into_iter()
                .map(StringEnum::word)
                .collect::<Vec<_>>()
        };
        assert_eq!(words(&["employee.created"], None), ["employee.created"]);
        assert_eq!(words(&["employee.created"], Some(&["*"])), ["employee.created"]);
        assert_eq!(words(&["*"], Some(&["employee.created"])), ["employee.created"]);
        assert_eq!(words(&["employee.created"], Some(&["employee.updated"])), [""; 0]);
        assert_eq!(words(&["*"], Some(&["test.ping"])), [""; 0], "test events are not replayed");
        assert_eq!(words(&["*"], None).len(), EventType::ALL.len() - 1);
    }

    #[test]
    fn redelivery_queues_a_kept_event_or_expedites_a_queued_one() {
        let tenant = Tenant { organization: OrganizationId::from_ulid(Ulid(2)), environment: Environment::Live };
        let job = |kind| {
            Job::new(tenant, subscription().id, (EventId::from_ulid(Ulid(7)), kind), NOON, DeliveryOrigin::Event)
        };
        let attempt = |kind| {
            let response = AttemptResponse {
                status: 204,
                duration_ms: 1,
                outcome: AttemptOutcome::Acknowledged,
                retry_after: None,
            };
            let times = (NOON, NOON);
            job(kind)
                .settle(DeliveryId::from_ulid(Ulid(9)), String::new(), response, &Schedule::default(), times)
                .entry
        };
        let refusal_of = |kind, event| match attempt(kind).redeliver(event) {
            Ok(_) => None,
            Err(DomainError::Conflict(conflict)) => {
                Some((conflict.field, conflict.current.to_string(), conflict.attempted_transition))
            }
            Err(other) => panic!("{other:?}"),
        };
        let conflict = |field: &str, current: &str| {
            Some((field.to_owned(), format!("\"{current}\""), Some("redeliver".to_owned())))
        };
        let kind = EventType::EmployeeCreated;
        assert_eq!(refusal_of(kind, AttemptState::Kept), None);
        let queued_job = Job { attempt: 3, ..job(kind) };
        assert_eq!(attempt(kind).redeliver(AttemptState::Kept), Ok(None));
        assert_eq!(attempt(kind).redeliver(AttemptState::Queued(queued_job)), Ok(Some(queued_job)));
        assert_eq!(refusal_of(kind, AttemptState::Removed), conflict("event", "removed"));
        assert_eq!(refusal_of(kind, AttemptState::Own), conflict("event", "about_this_subscription"));
        for event in [AttemptState::Kept, AttemptState::Queued(queued_job), AttemptState::Removed] {
            assert_eq!(refusal_of(EventType::TestPing, event), conflict("event_type", "test.ping"));
        }
    }

    #[test]
    fn inactive_subscription_refuses_a_replay() {
        assert_eq!(subscription().require_active("replay"), Ok(()));
        let paused_subscription = Subscription { active: false, ..subscription() };
        assert_eq!(
            paused_subscription.require_active("replay"),
            Err(DomainError::transition("active", false, "replay"))
        );
    }
}
