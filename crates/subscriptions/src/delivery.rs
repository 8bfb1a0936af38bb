//! The delivery log: one entry per attempt (§2.5, decision F2).

use candor_domain::attempt_failure::FailureReason;
use candor_domain::event::EventType;
use candor_domain::fields::StringEnum;
use candor_domain::id::{DeliveryId, EventId, EventKind, Id, Kind, RequestKind, WebhookId};
use candor_domain::page::{Key, SortBy, SortKey, Sortable};
use candor_domain::params::{self, ListRequest, Param, Params, ValueForm};
use candor_domain::schema::PublicEventId;
use candor_domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{NextStep, Status};

/// Retention of the delivery log, in days (§6.4, §8).
pub const LOG_DAYS: i64 = 30;

/// One attempt to deliver an event.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(with = "Entry<'static>")]
#[expect(missing_docs, reason = "members of the contract, §2.5")]
pub struct Delivery {
    /// Id of the attempt, new for every attempt.
    pub id: DeliveryId,
    pub subscription_id: WebhookId,
    /// Id of the event, equal for all attempts.
    pub event_id: EventId,
    pub event_type: EventType,
    /// Number of the attempt, starting at 1.
    pub attempt: u16,
    pub status: Status,
    pub request_url: String,
    /// HTTP status of the response; 0 without a response.
    pub response_status: u16,
    /// Time until the response or the failure, in milliseconds.
    pub response_duration_ms: u32,
    /// Time when the next attempt is due, if one follows.
    pub next_attempt_at: Option<Timestamp>,
    /// Time of the acknowledgement.
    pub delivered_at: Option<Timestamp>,
    /// Time when the attempt began.
    pub attempted_at: Timestamp,
    /// The reason of the failure; null for attempts from before it was recorded.
    pub failure: Option<FailureReason>,
    /// Id of the request that caused the event, if a request did.
    pub request_id: Option<String>,
    /// More about the failure: a word of [`TlsFailure`](candor_domain::attempt_failure::TlsFailure), or the target of a redirect.
    pub failure_detail: Option<String>,
}

/// The JSON form (§2.5). The id of a test event has its own prefix (§4.4).
#[derive(Serialize, JsonSchema)]
struct Entry<'a> {
    /// Id of the attempt. Each attempt has its own id.
    id: DeliveryId,
    /// Id of the subscription.
    subscription_id: WebhookId,
    /// Id of the event. It is the same for all attempts.
    #[schemars(with = "PublicEventId")]
    event_id: String,
    /// Type of the event.
    event_type: EventType,
    /// Number of the attempt, starting with 1.
    #[schemars(range(min = 1))]
    attempt: u16,
    /// Result of the attempt. After `failed` another attempt follows, after `dropped` none.
    status: Status,
    /// URL of the request.
    request_url: &'a str,
    /// HTTP status of the response. 0 if there was none.
    response_status: u16,
    /// Milliseconds until the response or the timeout.
    response_duration_ms: u32,
    /// Due time of the next attempt. Null if there is none.
    next_attempt_at: Option<Timestamp>,
    /// Time of the acknowledgement. Null if the receiver did not acknowledge.
    delivered_at: Option<Timestamp>,
    /// Start time of the attempt.
    attempted_at: Timestamp,
    /// Reason for the failure. Null on success and for old attempts without a recorded reason.
    #[schemars(with = "Option<FailureReason>")]
    failure: Option<&'static str>,
    /// More about the failure, for people. `tls`: its cause, such as `certificate_expired`, `unknown_issuer`, `wrong_name` or
    /// `no_tls`. `redirect`: its target without a query. Null for other reasons and for old attempts.
    failure_detail: Option<&'a str>,
    /// Id of the request that caused the event, as in the audit log. Null for events of background work, for test
    /// events and for old events.
    #[schemars(with = "Option<Id<RequestKind>>")]
    request_id: Option<&'a str>,
}

impl Serialize for Delivery {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Entry {
            id: self.id,
            subscription_id: self.subscription_id,
            event_id: self.public_event_id(),
            event_type: self.event_type,
            attempt: self.attempt,
            status: self.status,
            request_url: &self.request_url,
            response_status: self.response_status,
            response_duration_ms: self.response_duration_ms,
            next_attempt_at: self.next_attempt_at,
            delivered_at: self.delivered_at,
            attempted_at: self.attempted_at,
            failure: self.failure.map(StringEnum::word),
            failure_detail: self.failure_detail.as_deref(),
            request_id: self.request_id.as_deref(),
        }
        .serialize(serializer)
    }
}

impl Delivery {
    /// Returns the entry with the status and times that follow from `next`. The attempt ended at `at`.
    #[must_use]
    pub fn with_result(self, next: NextStep, at: Timestamp) -> Self {
        let delivered_at = (next == NextStep::Success).then_some(at);
        Self { status: next.status(), next_attempt_at: next.next_attempt_at(), delivered_at, ..self }
    }

    /// Returns the time in the id, by which the log is sorted and pruned. The attempt began at this time, or later if
    /// a client was told the id in advance.
    #[must_use]
    pub fn logged_at(&self) -> Timestamp {
        Timestamp::from_millis(i64::try_from(self.id.ulid().timestamp_ms()).unwrap_or(i64::MAX))
    }
}

/// The parameter for the event id as receivers see it: the id of a test event begins with `evt_test_`.
const EVENT_ID: Param<EventId> =
    params::param("filter[event_id]", "Only attempts for this event.", ValueForm::Id(EventKind::PREFIX), |text| {
        match text.strip_prefix("evt_test_") {
            Some(rest) => params::parse_id(&format!("evt_{rest}")),
            None => params::parse_id(text),
        }
    });

/// The conditions of a list of attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// Status of the attempt.
    pub status: Option<Status>,
    /// Type of the event.
    pub event_type: Option<EventType>,
    /// Id of the event.
    pub event_id: Option<EventId>,
}

impl DeliveryFilter {
    /// Declares and reads the parameters of `GET /webhooks/{id}/deliveries`.
    pub fn read(webhook: WebhookId, params: &mut Params) -> ListRequest<Self, ()> {
        let filter = Self::read_conditions(params);
        params.list::<Delivery, _, _>(&format!("deliveries of {webhook}"), filter, vec![])
    }

    pub(super) fn read_conditions(params: &mut Params) -> Self {
        Self {
            status: params.one(&params::status("Only attempts with this result. Default: `all`.")).flatten(),
            event_type: params.one(&params::word("filter[event_type]", "Only attempts for events of this type.")),
            event_id: params.one(&EVENT_ID),
        }
    }
}

impl Sortable for Delivery {
    const ORDERS_NAME: &'static str = "DeliverySort";
    const ORDERS: &'static [SortKey<Self>] = &[
        SortKey::descending_by(SortBy::CreatedAt, |delivery| Key::Time(delivery.logged_at())),
        SortKey::descending_by(SortBy::AttemptedAt, |delivery| Key::Time(delivery.attempted_at)),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::problem::Code;
    use ulid::Ulid;

    fn delivery() -> Delivery {
        Delivery {
            id: DeliveryId::from_ulid(Ulid(3 << 80 | 1)),
            subscription_id: WebhookId::from_ulid(Ulid(2)),
            event_id: EventId::from_ulid(Ulid(1)),
            event_type: EventType::EmployeeCreated,
            attempt: 1,
            status: Status::Failed,
            request_url: "https://example.com/".to_owned(),
            response_status: 0,
            response_duration_ms: 15_000,
            next_attempt_at: None,
            delivered_at: None,
            attempted_at: Timestamp::from_millis(4),
            failure: Some(FailureReason::Timeout),
            request_id: Some("req_1".to_owned()),
            failure_detail: None,
        }
    }

    #[test]
    fn delivery_json_has_the_contract_members_in_order() {
        let time = Timestamp::from_millis(0);
        let retried_delivery = delivery().with_result(NextStep::Retry { at: time }, time);
        assert_eq!(
            serde_json::to_string(&retried_delivery).unwrap(),
            r#"{"id":"del_00000000030000000000000001","subscription_id":"whk_00000000000000000000000002","event_id":"evt_00000000000000000000000001","event_type":"employee.created","attempt":1,"status":"failed","request_url":"https://example.com/","response_status":0,"response_duration_ms":15000,"next_attempt_at":"1970-01-01T00:00:00.000Z","delivered_at":null,"attempted_at":"1970-01-01T00:00:00.004Z","failure":"timeout","failure_detail":null,"request_id":"req_1"}"#
        );
        let ping = Delivery { event_type: EventType::TestPing, ..delivery() };
        assert_eq!(serde_json::to_value(&ping).unwrap()["event_id"], "evt_test_00000000000000000000000001");
        assert_eq!(ping.logged_at(), Timestamp::from_millis(3));
        let good = Delivery { failure: None, ..delivery() };
        assert_eq!(serde_json::to_value(&good).unwrap()["failure"], serde_json::Value::Null);
    }

    #[test]
    fn only_an_acknowledged_attempt_has_a_delivery_time() {
        let time = Timestamp::from_millis(9);
        let figures_after = |next| {
            let entry = delivery().with_result(next, time);
            (entry.status, entry.next_attempt_at, entry.delivered_at)
        };
        assert_eq!(figures_after(NextStep::Success), (Status::Success, None, Some(time)));
        assert_eq!(figures_after(NextStep::Retry { at: time }), (Status::Failed, Some(time), None));
        assert_eq!(figures_after(NextStep::Dropped), (Status::Dropped, None, None));
    }

    #[test]
    fn delivery_log_is_filtered_by_status_type_and_event() {
        let parse = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            Params::new(pairs)
                .parse(|params| DeliveryFilter::read(WebhookId::from_ulid(Ulid(2)), params))
                .map(|request| request.filter)
                .map_err(|problems| {
                    problems
                        .as_slice()
                        .iter()
                        .map(|problem| (problem.field.clone(), problem.code))
                        .collect::<Vec<_>>()
                })
        };
        let event = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        let event_id = format!("evt_{event}").parse().ok();
        let expected_filter =
            DeliveryFilter { status: Some(Status::Dropped), event_type: Some(EventType::TestPing), event_id };
        for text in [format!("evt_{event}"), format!("evt_test_{event}")] {
            let filter = parse(&[
                ("filter[status]", "dropped"),
                ("filter[event_type]", "test.ping"),
                ("filter[event_id]", &text),
            ]);
            assert_eq!(filter, Ok(expected_filter), "{text}");
        }
        assert_eq!(parse(&[("filter[status]", "all")]), Ok(DeliveryFilter::default()));
        let bad = |name: &str, code| Err(vec![(name.to_owned(), code)]);
        assert_eq!(parse(&[("filter[status]", "pending")]), bad("filter[status]", Code::InvalidEnum));
        assert_eq!(parse(&[("filter[event_type]", "*")]), bad("filter[event_type]", Code::InvalidEnum));
        assert_eq!(parse(&[("filter[attempt]", "1")]), bad("filter[attempt]", Code::UnknownField));
    }
}
