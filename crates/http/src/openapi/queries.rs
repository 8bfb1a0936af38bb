//! The query parameters of each list, as the domain reads them.

use candor_domain::access::api_key::ApiKey;
use candor_domain::audit::AuditEntry;
use candor_domain::event::EventType;
use candor_domain::id::{AttributeKind, DepartmentKind, EmployeeKind, EventKind, Kind};
use candor_domain::library::{Attribute, Department, Tone};
use candor_domain::notification::Notification;
use candor_domain::objective::{self, Objective};
use candor_domain::observation::{self, Observation};
use candor_domain::page::Listed;
use candor_domain::params::Archived;
use candor_domain::people::{self, Connector, Employee, Role, StatusFilter};
use candor_domain::webhook::{self, Delivery, Subscription};

use super::parameters::{Filter, Query, Takes, words};

const UPDATED_AT: Filter = Filter::once("updated_at", Takes::Datetimes);
const ARCHIVED: Filter = Filter::once("archived", Takes::Word(words::<Archived>));

/// `GET /observations`
pub(crate) static OBSERVATIONS: Query = Query {
    sorts: Some(Observation::SORTS),
    is_list: true,
    filters: &[
        Filter::once("employee_id", Takes::Id(EmployeeKind::PREFIX)),
        Filter::once("manager_id", Takes::Id(EmployeeKind::PREFIX)),
        Filter::once("type", Takes::Word(words::<observation::Type>)),
        ARCHIVED,
        Filter::repeated("attribute_id", Takes::Id(AttributeKind::PREFIX)),
        Filter::once("observation_date", Takes::Dates),
        Filter::once("created_at", Takes::Datetimes),
        UPDATED_AT,
    ],
    expand: Some(words::<observation::Expand>),
};

/// `GET /observations/{id}`
pub(crate) static OBSERVATION: Query =
    Query { sorts: None, is_list: false, filters: &[], expand: Some(words::<observation::Expand>) };

/// `GET /employee-objectives` and `GET /manager-objectives`
pub(crate) static OBJECTIVES: Query = Query {
    sorts: Some(Objective::SORTS),
    is_list: true,
    filters: &[
        Filter::once("owner_id", Takes::Id(EmployeeKind::PREFIX)),
        Filter::once("scope", Takes::Word(words::<objective::Scope>)),
        Filter::repeated("status", Takes::Word(words::<objective::Status>)),
        Filter::once("period_start", Takes::Dates),
        Filter::once("period_end", Takes::Dates),
        UPDATED_AT,
    ],
    expand: Some(words::<objective::Expand>),
};

/// `GET /employee-objectives/{id}` and `GET /manager-objectives/{id}`
pub(crate) static OBJECTIVE: Query =
    Query { sorts: None, is_list: false, filters: &[], expand: Some(words::<objective::Expand>) };

/// The history of one resource.
pub(crate) static HISTORY: Query = Query { sorts: Some(AuditEntry::SORTS), is_list: true, filters: &[], expand: None };

/// `GET /notifications`
pub(crate) static NOTIFICATIONS: Query = Query {
    sorts: Some(Notification::SORTS),
    is_list: true,
    filters: &[
        Filter::once("recipient_id", Takes::Id(EmployeeKind::PREFIX)),
        Filter::once("unread", Takes::Word(words::<bool>)),
    ],
    expand: None,
};

/// `GET /employees`
pub(crate) static EMPLOYEES: Query = Query {
    sorts: Some(Employee::SORTS),
    is_list: true,
    filters: &[
        Filter::once("email", Takes::Text),
        Filter::repeated("role", Takes::Word(words::<Role>)),
        Filter::once("manager_id", Takes::Id(EmployeeKind::PREFIX)),
        Filter::once("department_id", Takes::Id(DepartmentKind::PREFIX)),
        Filter::once("status", Takes::Word(words::<StatusFilter>)),
        Filter::once("external_id", Takes::Text),
        Filter::once("custom_fields", Takes::CustomFields),
        UPDATED_AT,
    ],
    expand: Some(words::<people::Expand>),
};

/// `GET /employees/{id}`
pub(crate) static EMPLOYEE: Query =
    Query { sorts: None, is_list: false, filters: &[], expand: Some(words::<people::Expand>) };

/// `GET /departments`
pub(crate) static DEPARTMENTS: Query = Query {
    sorts: Some(Department::SORTS),
    is_list: true,
    filters: &[Filter::once("name", Takes::Text), ARCHIVED, UPDATED_AT],
    expand: None,
};

/// `GET /attributes`
pub(crate) static ATTRIBUTES: Query = Query {
    sorts: Some(Attribute::SORTS),
    is_list: true,
    filters: &[
        Filter::once("name", Takes::Text),
        Filter::once("category", Takes::Text),
        Filter::repeated("tone", Takes::Word(words::<Tone>)),
        ARCHIVED,
        UPDATED_AT,
    ],
    expand: None,
};

/// `GET /api-keys`
pub(crate) static API_KEYS: Query =
    Query { sorts: Some(ApiKey::SORTS), is_list: true, filters: &[UPDATED_AT], expand: None };

/// `GET /connectors`
pub(crate) static CONNECTORS: Query =
    Query { sorts: Some(Connector::SORTS), is_list: true, filters: &[UPDATED_AT], expand: None };

/// `GET /webhooks`
pub(crate) static WEBHOOKS: Query =
    Query { sorts: Some(Subscription::SORTS), is_list: true, filters: &[UPDATED_AT], expand: None };

/// `GET /webhooks/{id}/deliveries`
pub(crate) static DELIVERIES: Query = Query {
    sorts: Some(Delivery::SORTS),
    is_list: true,
    filters: &[
        Filter::once("status", Takes::Word(words::<webhook::Status>)),
        Filter::once("event_type", Takes::Word(words::<EventType>)),
        Filter::once("event_id", Takes::Id(EventKind::PREFIX)),
    ],
    expand: None,
};

/// `GET /events`
pub(crate) static EVENTS: Query = Query {
    sorts: None,
    is_list: true,
    filters: &[Filter::repeated("event", Takes::Word(words::<EventType>))],
    expand: None,
};

/// `GET /audit-log`
pub(crate) static AUDIT_LOG: Query = Query {
    sorts: Some(AuditEntry::SORTS),
    is_list: true,
    filters: &[
        Filter::once("target_id", Takes::Text),
        Filter::once("actor_id", Takes::Text),
        Filter::repeated("action", Takes::Text),
        Filter::once("occurred_at", Takes::Datetimes),
    ],
    expand: None,
};
