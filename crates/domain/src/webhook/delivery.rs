//! The delivery log: one entry per attempt (§2.5, decision F2).

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use super::{Next, Status};
use crate::event::EventType;
use crate::fields::{Word, as_word};
use crate::id::{DeliveryId, EventId, EventKind, Kind, WebhookId};
use crate::page::{Key, Listed, Order, SortBy};
use crate::params::{self, ListRequest, Param, Params, Takes};
use crate::problem::Problems;
use crate::time::Timestamp;

/// How long attempts are kept (§6.4, §8).
pub const LOG_DAYS: i64 = 30;

/// Why an attempt was not acknowledged: the same words in the delivery log, in the metrics and in what is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum FailureReason {
    /// It was answered with another status than 2xx.
    Status,
    /// It was answered with a redirect, which is never followed (decision F1).
    Redirect,
    /// The URL is not HTTPS, and its network not trusted.
    NotHttps,
    /// One of the host's addresses is not public.
    #[strum(to_string = "forbidden_address")]
    Forbidden,
    /// The host has no address.
    Unresolvable,
    /// No connection came about.
    Connect,
    /// No TLS session came about, e.g. because the certificate is not good.
    Tls,
    /// There was no answer in time.
    Timeout,
    /// The connection ended before the answer.
    Closed,
    /// What came is not an answer in HTTP.
    Malformed,
    /// The answer had more headers, or more before them, than is read.
    TooLarge,
    /// It waited too long for its subscription to be active again, and was not attempted (decision F4).
    TooLate,
}

impl Word for FailureReason {
    const NAME: &'static str = "DeliveryFailure";
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptOutcome {
    /// With a 2xx in time.
    Acknowledged,
    /// Otherwise.
    Failed(FailureReason),
}

impl AttemptOutcome {
    /// What a status in time means (§6.3): any 2xx acknowledges.
    #[must_use]
    pub const fn of_status(status: u16) -> Self {
        match status {
            200..=299 => Self::Acknowledged,
            300..=399 => Self::Failed(FailureReason::Redirect),
            _ => Self::Failed(FailureReason::Status),
        }
    }

    /// What the log says of a test delivery, which is attempted once (decision F7).
    #[must_use]
    pub const fn test_status(self) -> Status {
        match self {
            Self::Acknowledged => Status::Success,
            Self::Failed(_) => Status::Failed,
        }
    }
}

/// One attempt to deliver an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its id, new for every attempt.
    pub id: DeliveryId,
    /// Whose it is.
    pub subscription_id: WebhookId,
    /// Which event; the same for every attempt.
    pub event_id: EventId,
    /// The event's type.
    pub event_type: EventType,
    /// The number of the attempt, the first one being 1.
    pub attempt: u16,
    /// How it ended.
    pub status: Status,
    /// Where it went.
    pub request_url: String,
    /// What was answered; 0 if nothing was.
    pub response_status: u16,
    /// Milliseconds until the answer, or until it was given up.
    pub response_duration_ms: u32,
    /// When the next attempt is due.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was acknowledged.
    pub delivered_at: Option<Timestamp>,
    /// When it was begun.
    pub attempted_at: Timestamp,
    /// Why it was not acknowledged; unknown for attempts from before this was recorded.
    pub failure: Option<FailureReason>,
}

/// The JSON form of §2.5; a test event's id has a prefix of its own (§4.4).
#[derive(Serialize)]
struct Entry<'a> {
    id: DeliveryId,
    subscription_id: WebhookId,
    event_id: String,
    event_type: EventType,
    attempt: u16,
    #[serde(serialize_with = "as_word")]
    status: Status,
    request_url: &'a str,
    response_status: u16,
    response_duration_ms: u32,
    next_attempt_at: Option<Timestamp>,
    delivered_at: Option<Timestamp>,
    attempted_at: Timestamp,
    failure: Option<&'static str>,
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
            failure: self.failure.map(Word::word),
        }
        .serialize(serializer)
    }
}

impl Delivery {
    /// The entry with what follows the attempt, which ended at this time.
    #[must_use]
    pub fn ended(self, next: Next, at: Timestamp) -> Self {
        let delivered_at = (next == Next::Success).then_some(at);
        Self { status: next.status(), next_attempt_at: next.next_attempt_at(), delivered_at, ..self }
    }

    /// The time inside its id, by which the log is kept and sorted: when the attempt was begun, or before that when
    /// somebody was told the id.
    #[must_use]
    pub fn logged_at(&self) -> Timestamp {
        Timestamp::from_millis(i64::try_from(self.id.ulid().timestamp_ms()).unwrap_or(i64::MAX))
    }
}

/// The event of an attempt, also that of a test, as receivers see it.
const EVENT_ID: Param<EventId> =
    params::param("filter[event_id]", "Only attempts for this event.", Takes::Id(EventKind::PREFIX), |text| match text
        .strip_prefix("evt_test_")
    {
        Some(rest) => params::parse_id(&format!("evt_{rest}")),
        None => params::parse_id(text),
    });

/// Which attempts are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// That ended like this.
    pub status: Option<Status>,
    /// Of events of this type.
    pub event_type: Option<EventType>,
    /// Of this event.
    pub event_id: Option<EventId>,
}

impl DeliveryFilter {
    /// Reads the parameters of `GET /webhooks/{id}/deliveries` of this subscription.
    ///
    /// # Errors
    /// Every parameter that is wrong.
    pub fn parse(webhook: WebhookId, mut params: Params) -> Result<ListRequest<Self, ()>, Problems> {
        let request = Self::read(webhook, &mut params);
        params.finish(request)
    }

    /// The parameters of `GET /webhooks/{id}/deliveries` of this subscription.
    pub fn read(webhook: WebhookId, params: &mut Params) -> ListRequest<Self, ()> {
        let filter = Self {
            status: params.one(&params::status("Only attempts with this result. Default: `all`.")).flatten(),
            event_type: params.one(&params::word("filter[event_type]", "Only attempts for events of this type.")),
            event_id: params.one(&EVENT_ID),
        };
        params.list::<Delivery, _, _>(&format!("deliveries of {webhook}"), filter, vec![])
    }
}

impl Listed for Delivery {
    const ORDERS_NAME: &'static str = "DeliverySort";
    const ORDERS: &'static [Order<Self>] =
        &[Order { by: SortBy::CreatedAt, key: |it| Key::Time(it.logged_at()), words: &["-created_at", "created_at"] }];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Code;
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
        }
    }

    #[test]
    fn an_entry_has_the_members_of_the_contract_in_its_order() {
        let at = Timestamp::from_millis(0);
        let retried = delivery().ended(Next::Retry { at }, at);
        assert_eq!(
            serde_json::to_string(&retried).unwrap(),
            r#"{"id":"del_00000000030000000000000001","subscription_id":"whk_00000000000000000000000002","event_id":"evt_00000000000000000000000001","event_type":"employee.created","attempt":1,"status":"failed","request_url":"https://example.com/","response_status":0,"response_duration_ms":15000,"next_attempt_at":"1970-01-01T00:00:00.000Z","delivered_at":null,"attempted_at":"1970-01-01T00:00:00.004Z","failure":"timeout"}"#
        );
        let ping = Delivery { event_type: EventType::TestPing, ..delivery() };
        assert_eq!(serde_json::to_value(&ping).unwrap()["event_id"], "evt_test_00000000000000000000000001");
        assert_eq!(ping.logged_at(), Timestamp::from_millis(3));
        let good = Delivery { failure: None, ..delivery() };
        assert_eq!(serde_json::to_value(&good).unwrap()["failure"], serde_json::Value::Null);
    }

    #[test]
    fn only_an_acknowledged_attempt_has_a_delivery_time() {
        let at = Timestamp::from_millis(9);
        let shown = |next| {
            let it = delivery().ended(next, at);
            (it.status, it.next_attempt_at, it.delivered_at)
        };
        assert_eq!(shown(Next::Success), (Status::Success, None, Some(at)));
        assert_eq!(shown(Next::Retry { at }), (Status::Failed, Some(at), None));
        assert_eq!(shown(Next::Dropped), (Status::Dropped, None, None));
    }

    #[test]
    fn any_2xx_acknowledges_and_nothing_else_does() {
        for status in 0..=999 {
            let outcome = AttemptOutcome::of_status(status);
            let wanted = match status / 100 {
                2 => AttemptOutcome::Acknowledged,
                3 => AttemptOutcome::Failed(FailureReason::Redirect),
                _ => AttemptOutcome::Failed(FailureReason::Status),
            };
            assert_eq!(outcome, wanted, "{status}");
            let test = if status / 100 == 2 { Status::Success } else { Status::Failed };
            assert_eq!(outcome.test_status(), test, "{status}");
        }
    }

    #[test]
    fn the_log_is_filtered_by_status_type_and_event() {
        let parse = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            DeliveryFilter::parse(WebhookId::from_ulid(Ulid(2)), Params::new(pairs))
                .map(|it| it.filter)
                .map_err(|it| it.as_slice().iter().map(|it| (it.field.clone(), it.code)).collect::<Vec<_>>())
        };
        let event = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        let event_id = format!("evt_{event}").parse().ok();
        let wanted = DeliveryFilter { status: Some(Status::Dropped), event_type: Some(EventType::TestPing), event_id };
        for text in [format!("evt_{event}"), format!("evt_test_{event}")] {
            let found = parse(&[
                ("filter[status]", "dropped"),
                ("filter[event_type]", "test.ping"),
                ("filter[event_id]", &text),
            ]);
            assert_eq!(found, Ok(wanted), "{text}");
        }
        assert_eq!(parse(&[("filter[status]", "all")]), Ok(DeliveryFilter::default()));
        let bad = |name: &str, code| Err(vec![(name.to_owned(), code)]);
        assert_eq!(parse(&[("filter[status]", "pending")]), bad("filter[status]", Code::InvalidEnum));
        assert_eq!(parse(&[("filter[event_type]", "*")]), bad("filter[event_type]", Code::InvalidEnum));
        assert_eq!(parse(&[("filter[attempt]", "1")]), bad("filter[attempt]", Code::UnknownField));
    }
}
