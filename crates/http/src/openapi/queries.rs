//! The query parameters of each route, as the domain reads them.

use candor_domain::access::api_key::ApiKey;
use candor_domain::assignment;
use candor_domain::audit::{self, AuditEntry};
use candor_domain::conversation::{self, message};
use candor_domain::csv;
use candor_domain::event::FeedRequest;
use candor_domain::id::{ConversationId, WebhookId};
use candor_domain::library::{attribute, department};
use candor_domain::notification;
use candor_domain::objective::{self, Family};
use candor_domain::observation;
use candor_domain::params::Params;
use candor_domain::people::{self, Connector};
use candor_domain::search::SearchRequest;
use candor_domain::summary;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{self, DeliveryFilter};

use super::parameters::Query;

/// `GET /observations`
pub(crate) static OBSERVATIONS: Query = Query::list(|it| drop(observation::Filter::read(it)));
/// `GET /observations/{id}`
pub(crate) static OBSERVATION: Query = Query::one(|it| drop(it.expand::<observation::Expand>()));
/// `GET /employee-objectives` and `GET /manager-objectives`
pub(crate) static OBJECTIVES: Query = Query::list(|it| drop(objective::Filter::read(Family::Employees, it)));
/// `GET /employee-objectives/{id}` and `GET /manager-objectives/{id}`
pub(crate) static OBJECTIVE: Query = Query::one(|it| drop(it.expand::<objective::Expand>()));
/// The history of one resource.
pub(crate) static HISTORY: Query = Query::list(|it| drop(it.list::<AuditEntry, (), ()>("", (), vec![])));
/// `GET /assignments`
pub(crate) static ASSIGNMENTS: Query = Query::list(|it| drop(assignment::Filter::read(it)));
/// `GET /conversations`
pub(crate) static CONVERSATIONS: Query = Query::list(|it| drop(conversation::Filter::read(it)));
/// `GET /conversations/{id}/messages`
pub(crate) static MESSAGES: Query =
    Query::list(|it| drop(message::Filter::read(ConversationId::from_bytes([0; 16]), it)));
/// `GET /summaries`
pub(crate) static SUMMARIES: Query = Query::list(|it| drop(summary::Filter::read(it)));
/// `GET /summaries/{id}`
pub(crate) static SUMMARY: Query = Query::one(|it| drop(it.expand::<summary::Expand>()));
/// `GET /search`
pub(crate) static SEARCH: Query = Query::list(|it| drop(SearchRequest::read(it)));
/// `GET /notifications`
pub(crate) static NOTIFICATIONS: Query = Query::list(|it| drop(notification::Filter::read(it)));
/// `GET /employees`
pub(crate) static EMPLOYEES: Query = Query::list(|it| drop(people::Filter::read(it)));
/// `GET /employees/{id}`
pub(crate) static EMPLOYEE: Query = Query::one(|it| drop(it.expand::<people::Expand>()));
/// `POST /employees/csv`
pub(super) static EMPLOYEES_CSV: fn(&mut Params) = |it| drop(csv::UploadRequest::read(it));
/// `GET /departments`
pub(crate) static DEPARTMENTS: Query = Query::list(|it| drop(department::Filter::read(it)));
/// `GET /attributes`
pub(crate) static ATTRIBUTES: Query = Query::list(|it| drop(attribute::Filter::read(it)));
/// `GET /api-keys`
pub(crate) static API_KEYS: Query = Query::list(|it| drop(it.changed::<ApiKey>("")));
/// `GET /connectors`
pub(crate) static CONNECTORS: Query = Query::list(|it| drop(it.changed::<Connector>("")));
/// `GET /webhooks`
pub(crate) static WEBHOOKS: Query = Query::list(|it| drop(webhook::Filter::read(it)));
/// `GET /webhooks/{id}/deliveries`
pub(crate) static DELIVERIES: Query = Query::list(|it| drop(DeliveryFilter::read(WebhookId::from_bytes([0; 16]), it)));
/// `GET /events`
pub(crate) static EVENTS: Query = Query::list(|it| drop(FeedRequest::read(it, Timestamp::from_millis(0))));
/// `GET /audit-log`
pub(crate) static AUDIT_LOG: Query = Query::list(|it| drop(audit::Filter::read(it)));
