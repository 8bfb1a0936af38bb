//! The query parameters of each list, as the domain reads them.

use candor_domain::access::api_key::ApiKey;
use candor_domain::audit::AuditEntry;
use candor_domain::event::EventType;
use candor_domain::id::{AttributeKind, DepartmentKind, EmployeeKind, EventKind, Kind};
use candor_domain::library::{Attribute, Department, Tone};
use candor_domain::notification::Notification;
use candor_domain::objective::{self, Objective};
use candor_domain::observation::{self, Observation};
use candor_domain::params::Archived;
use candor_domain::people::{self, Connector, Employee, Role, StatusFilter};
use candor_domain::webhook::{self, Delivery, Subscription};

use super::parameters::{Filter, Query, Takes, Words};

const UPDATED_AT: Filter = Filter::once("updated_at", Takes::Datetimes, "Those that last changed within these bounds.");
const ARCHIVED: Filter = Filter::once(
    "archived",
    Takes::Word(Words::of::<Archived>()),
    "Those in use, those that are archived, or both; `false` unless given.",
);

/// `GET /observations`
pub(crate) static OBSERVATIONS: Query = Query {
    sorts: Some(Words::orders::<Observation>("ObservationSort")),
    is_list: true,
    filters: &[
        Filter::once("employee_id", Takes::Id(EmployeeKind::PREFIX), "Those about this person."),
        Filter::once(
            "manager_id",
            Takes::Id(EmployeeKind::PREFIX),
            "Those about people who report to this person at any depth, directly or through others; not about the person.",
        ),
        Filter::once("type", Takes::Word(Words::of::<observation::Type>()), "Those of this type."),
        ARCHIVED,
        Filter::repeated("attribute_id", Takes::Id(AttributeKind::PREFIX), "Those with this attribute."),
        Filter::once("observation_date", Takes::Dates, "Those about a day within these bounds."),
        Filter::once("created_at", Takes::Datetimes, "Those that were created within these bounds."),
        UPDATED_AT,
    ],
    expand: Some(Words::of::<observation::Expand>()),
};

/// `GET /observations/{id}`
pub(crate) static OBSERVATION: Query =
    Query { sorts: None, is_list: false, filters: &[], expand: Some(Words::of::<observation::Expand>()) };

/// `GET /employee-objectives` and `GET /manager-objectives`
pub(crate) static OBJECTIVES: Query = Query {
    sorts: Some(Words::orders::<Objective>("ObjectiveSort")),
    is_list: true,
    filters: &[
        Filter::once("owner_id", Takes::Id(EmployeeKind::PREFIX), "Those that this person is responsible for."),
        Filter::once(
            "scope",
            Takes::Word(Words::of::<objective::Scope>()),
            "Those of this scope; one that these paths do not hold finds nothing.",
        ),
        Filter::repeated(
            "status",
            Takes::Word(Words::of::<objective::Status>()),
            "Those with this status; all but archived ones unless given.",
        ),
        Filter::once("period_start", Takes::Dates, "Those whose period begins within these bounds."),
        Filter::once("period_end", Takes::Dates, "Those whose period ends within these bounds."),
        UPDATED_AT,
    ],
    expand: Some(Words::of::<objective::Expand>()),
};

/// `GET /employee-objectives/{id}` and `GET /manager-objectives/{id}`
pub(crate) static OBJECTIVE: Query =
    Query { sorts: None, is_list: false, filters: &[], expand: Some(Words::of::<objective::Expand>()) };

/// The history of one resource.
pub(crate) static HISTORY: Query =
    Query { sorts: Some(Words::orders::<AuditEntry>("AuditEntrySort")), is_list: true, filters: &[], expand: None };

/// `GET /notifications`
pub(crate) static NOTIFICATIONS: Query = Query {
    sorts: Some(Words::orders::<Notification>("NotificationSort")),
    is_list: true,
    filters: &[
        Filter::once("recipient_id", Takes::Id(EmployeeKind::PREFIX), "Those that were sent to this person."),
        Filter::once("unread", Takes::Flag, "With `true` those that were not read, with `false` those that were."),
    ],
    expand: None,
};

/// `GET /employees`
pub(crate) static EMPLOYEES: Query = Query {
    sorts: Some(Words::orders::<Employee>("EmployeeSort")),
    is_list: true,
    filters: &[
        Filter::once(
            "email",
            Takes::Text,
            "The person with this e-mail address, compared as a whole and without case.",
        ),
        Filter::repeated("role", Takes::Word(Words::of::<Role>()), "Those with this role."),
        Filter::once(
            "manager_id",
            Takes::Id(EmployeeKind::PREFIX),
            "Those who report to this person directly, and not those further down.",
        ),
        Filter::once("department_id", Takes::Id(DepartmentKind::PREFIX), "Those who belong to this department."),
        Filter::once(
            "status",
            Takes::Word(Words::of::<StatusFilter>()),
            "Those with this status; `active` unless given.",
        ),
        Filter::once("external_id", Takes::Text, "The person with this id in another system, compared as a whole."),
        Filter::once(
            "custom_fields",
            Takes::CustomFields,
            "People whose custom field has this value: `filter[custom_fields.<key>]=<value>`, compared with the value as text (`42`, `true`). As an object, its members are called `custom_fields.<key>`.",
        ),
        UPDATED_AT,
    ],
    expand: Some(Words::of::<people::Expand>()),
};

/// `GET /employees/{id}`
pub(crate) static EMPLOYEE: Query =
    Query { sorts: None, is_list: false, filters: &[], expand: Some(Words::of::<people::Expand>()) };

/// `GET /departments`
pub(crate) static DEPARTMENTS: Query = Query {
    sorts: Some(Words::orders::<Department>("DepartmentSort")),
    is_list: true,
    filters: &[
        Filter::once("name", Takes::Text, "The department with this name, compared as a whole and without case."),
        ARCHIVED,
        UPDATED_AT,
    ],
    expand: None,
};

/// `GET /attributes`
pub(crate) static ATTRIBUTES: Query = Query {
    sorts: Some(Words::orders::<Attribute>("AttributeSort")),
    is_list: true,
    filters: &[
        Filter::once("name", Takes::Text, "The attribute with this name, compared as a whole and without case."),
        Filter::once("category", Takes::Text, "Those in this category, compared as a whole."),
        Filter::repeated("tone", Takes::Word(Words::of::<Tone>()), "Those with this tone."),
        ARCHIVED,
        UPDATED_AT,
    ],
    expand: None,
};

/// `GET /api-keys`
pub(crate) static API_KEYS: Query =
    Query { sorts: Some(Words::orders::<ApiKey>("ApiKeySort")), is_list: true, filters: &[UPDATED_AT], expand: None };

/// `GET /connectors`
pub(crate) static CONNECTORS: Query = Query {
    sorts: Some(Words::orders::<Connector>("ConnectorSort")),
    is_list: true,
    filters: &[UPDATED_AT],
    expand: None,
};

/// `GET /webhooks`
pub(crate) static WEBHOOKS: Query = Query {
    sorts: Some(Words::orders::<Subscription>("WebhookSort")),
    is_list: true,
    filters: &[UPDATED_AT],
    expand: None,
};

/// `GET /webhooks/{id}/deliveries`
pub(crate) static DELIVERIES: Query = Query {
    sorts: Some(Words::orders::<Delivery>("DeliverySort")),
    is_list: true,
    filters: &[
        Filter::once("status", Takes::Word(Words::of::<webhook::Status>()), "Attempts that ended like this."),
        Filter::once("event_type", Takes::Word(Words::of::<EventType>()), "Attempts to deliver events of this type."),
        Filter::once("event_id", Takes::Id(EventKind::PREFIX), "All attempts to deliver this event."),
    ],
    expand: None,
};

/// What `since` of the feed means.
const BEGINNING: &str = "Begin at the first event that happened then or later, at most 30 days ago; `now`: behind everything \
    that is there already. The answer has the cursor to go on from. Not together with `cursor`.";

/// `GET /events`
pub(crate) static EVENTS: Query = Query {
    sorts: None,
    is_list: true,
    filters: &[
        Filter::repeated("event", Takes::Word(Words::of::<EventType>()), "Events of this type."),
        Filter::once("since", Takes::Beginning, BEGINNING),
    ],
    expand: None,
};

/// `GET /audit-log`
pub(crate) static AUDIT_LOG: Query = Query {
    sorts: Some(Words::orders::<AuditEntry>("AuditEntrySort")),
    is_list: true,
    filters: &[
        Filter::once("target_id", Takes::Text, "What was done to this resource: its id."),
        Filter::once("actor_id", Takes::Text, "What this actor did: its id."),
        Filter::repeated(
            "action",
            Takes::Text,
            "What was done, for example `observation.archive`, compared as a whole.",
        ),
        Filter::once("occurred_at", Takes::Datetimes, "What was done within these bounds."),
    ],
    expand: None,
};
