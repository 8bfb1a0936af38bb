//! The operations of the document, one per row of the table.

use candor_domain::fields::Word;
use candor_domain::id::{
    AssignmentKind, AttributeKind, ConnectorKind, ConversationKind, DeliveryKind, DepartmentKind, EmployeeKind,
    EventKind, KeyKind, Kind, MessageKind, NotificationKind, ObjectiveKind, ObservationKind, SummaryKind, WebhookKind,
};
use serde_json::{Map, Value, json};

use super::shapes::named;
use super::{answers, errors, examples, operations, parameters};
use crate::table::{Access, Body, Method, ROUTES, Route};

/// The first segment of a path, its tag, what the tag is about, and the prefix of the identifiers in its paths.
const FAMILIES: &[(&str, &str, &str, &str)] = &[
    ("observations", "Observations", "The smallest unit of feedback.", ObservationKind::PREFIX),
    ("employee-objectives", "Objectives", "Goals, from a proposal to what came of them.", ObjectiveKind::PREFIX),
    ("manager-objectives", "Objectives", "", ObjectiveKind::PREFIX),
    ("assignments", "Assignments", "Requests for feedback about a person.", AssignmentKind::PREFIX),
    ("conversations", "Conversations", "Where a few people write to each other.", ConversationKind::PREFIX),
    ("summaries", "Summaries", "What is said about a person over a time.", SummaryKind::PREFIX),
    ("search", "Search", "What was written, by its words.", ""),
    ("notifications", "Notifications", "What people are told in the application.", NotificationKind::PREFIX),
    ("employees", "Employees", "The people of the organization.", EmployeeKind::PREFIX),
    ("invitations", "Employees", "", ""),
    ("departments", "Departments", "What people belong to.", DepartmentKind::PREFIX),
    ("attributes", "Attributes", "The tags of observations.", AttributeKind::PREFIX),
    ("me", "Access", "The key of a request, and all keys of the organization.", ""),
    ("api-keys", "Access", "", KeyKind::PREFIX),
    ("organization", "Organization", "The organization and its connections to HR systems.", ""),
    ("connectors", "Organization", "", ConnectorKind::PREFIX),
    ("test-data", "Organization", "", ""),
    ("webhooks", "Webhooks", "Who is told of what happens, and how that went.", WebhookKind::PREFIX),
    ("events", "History", "What happened, for machines and for auditors.", EventKind::PREFIX),
    ("audit-log", "History", "", ""),
    ("openapi.json", "About", "This document.", ""),
];

/// The names of second identifiers in paths, with their prefixes.
const SECOND_IDS: [(&str, &str); 2] = [("delivery_id", DeliveryKind::PREFIX), ("message_id", MessageKind::PREFIX)];

fn family(route: &Route) -> (&'static str, &'static str) {
    let first = route.path.split('/').nth(1).unwrap_or_default();
    let known = FAMILIES.iter().find(|(segment, ..)| *segment == first);
    known.map_or(("Other", ""), |(_, tag, _, prefix)| (tag, prefix))
}

/// The tags, in the order of the document.
pub(super) fn tags() -> Value {
    let described = FAMILIES.iter().filter(|(_, _, about, _)| !about.is_empty());
    described.map(|(_, tag, about, _)| json!({"name": tag, "description": about})).collect()
}

/// Every path with its operations.
pub(super) fn all() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        if route.path.contains("{id}") && path.get("parameters").is_none() {
            let second = SECOND_IDS.iter().find(|(name, _)| route.path.contains(&format!("{{{name}}}")));
            let second = second.map(|(name, prefix)| id_parameter(name, prefix));
            let first = id_parameter("id", family(route).1);
            path["parameters"] = std::iter::once(first).chain(second).collect();
        }
        path[route.method.word().to_ascii_lowercase()] = operation(route);
    }
    Value::Object(paths)
}

fn id_parameter(name: &str, prefix: &str) -> Value {
    let pattern = format!("^{prefix}_[0-7][0-9A-HJKMNP-TV-Z]{{25}}$");
    let about = format!("An id, `{prefix}_…`; 404 for whatever names nothing in the organization.");
    json!({
        "name": name, "in": "path", "required": true, "description": about,
        "schema": {"type": "string", "pattern": pattern},
    })
}

fn operation(route: &Route) -> Value {
    let mut parameters = route.query.map(parameters::of).unwrap_or_default();
    if route.body == Body::Csv {
        parameters.extend(super::csv::parameters());
    }
    if route.is_idempotent() {
        parameters.push(parameters::shared_reference("IdempotencyKey"));
    }
    if route.is_conditional() {
        parameters.push(parameters::shared_reference("IfMatch"));
    }
    if is_versioned(route) && route.method == Method::Get {
        parameters.push(parameters::shared_reference("IfNoneMatch"));
    }
    let mut operation = json!({
        "operationId": route.operation,
        "summary": route.summary,
        "description": format!("{}\n\n{}", operations::about(route.operation), demands(route)),
        "tags": [family(route).0],
        "parameters": parameters,
        "responses": responses(route),
    });
    if let Body::Optional(schema) | Body::Required(schema) = route.body {
        let required = matches!(route.body, Body::Required(_));
        let content = json!({"schema": named(schema), "example": examples::of(schema)});
        operation["requestBody"] = json!({"required": required, "content": {"application/json": content}});
    }
    if route.body == Body::Csv {
        operation["requestBody"] = super::csv::body();
    }
    if route.access == Access::Public {
        operation["security"] = json!([]);
    }
    operation
}

/// Whether the answer is one resource with a version.
pub(super) fn is_versioned(route: &Route) -> bool {
    let single = ["Observation", "Objective", "Employee", "Department", "Attribute", "Organization", "Connector"];
    let others = [
        "Assignment",
        "Conversation",
        "Message",
        "Summary",
        "Notification",
        "ApiKey",
        "ApiKeyWithSecret",
        "Invitation",
        "InvitationSent",
    ];
    let webhooks = ["Webhook", "WebhookWithSecret", "WebhookUpdated", "Delivery", "Event"];
    [&single[..], &others, &webhooks].iter().any(|it| it.contains(&route.response))
}

fn demands(route: &Route) -> String {
    let mut text = match route.access {
        Access::Public => "Needs no API key.".to_owned(),
        Access::AnyKey => "Needs any valid API key.".to_owned(),
        Access::ReadsTypes => "Needs the read scope of each type that is searched.".to_owned(),
        Access::Permission(scope) => format!("Needs the scope `{}`.", scope.word()),
        Access::Admin(scope) => format!("Needs the scope `{}` and an admin-level key.", scope.word()),
    };
    if route.live_only {
        text.push_str(" Test keys are refused.");
    }
    if route.test_only {
        text.push_str(" Live keys are refused.");
    }
    if route.full_sight {
        text.push_str(" Keys that act for a person are refused, unless that person is an org admin.");
    }
    if route.access != Access::Public {
        text.push_str(&format!(" Counts as `{}`.", route.quota.word()));
    }
    text
}

/// What a success is.
fn outcome(route: &Route) -> &'static str {
    match (route.response, route.method, route.status) {
        ("", ..) => "It is done; there is no body.",
        ("EventFeed", ..) => "The events that follow the cursor, at most a page of them.",
        ("CsvReport", ..) => "What became of the rows; also where some or all of them were refused.",
        ("Document", ..) => "The document.",
        ("DeliveryPromised", ..) => "The attempt that will be made, by its id in the log.",
        ("WebhookReplayed", ..) => "How much was queued, and where the next request goes on.",
        ("NotificationsRead", ..) => "Whose notifications were marked, and when.",
        ("TestDataReset", ..) => "How much was removed, and whether nothing is left.",
        ("ConnectorReleased", ..) => "How many people were given back.",
        ("InvitationAccepted", ..) => "Who accepted, and where.",
        ("InvitationSent", ..) => "The new invitation.",
        ("Event", ..) => "The event, as it was delivered.",
        ("Delivery", ..) => "The attempt, as it is in the log.",
        ("ApiKeyWithSecret" | "WebhookWithSecret", ..) => "The resource with its secret, which is shown this once.",
        ("SearchHitList", ..) => "A page of what was found, the best first.",
        (list, ..) if list.ends_with("List") => "A page of the list, in the order that was asked for.",
        (_, _, 201) => "The new resource, with its id.",
        (_, Method::Get, _) => "The resource as it is now.",
        _ => "The resource after the change.",
    }
}

fn responses(route: &Route) -> Value {
    let mut headers = errors::common_headers();
    let header = |name: &str| json!({"$ref": format!("#/components/headers/{name}")});
    if is_versioned(route) {
        headers["ETag"] = header("ETag");
    }
    if route.is_idempotent() {
        headers["Idempotent-Replayed"] = header("Replayed");
    }
    if route.status == 201 {
        headers["Location"] = header("Location");
    }
    let mut success = json!({"description": outcome(route), "headers": headers});
    if !route.response.is_empty() {
        let mut content = json!({"schema": named(route.response)});
        if !answers::WITHOUT_EXAMPLE.contains(&route.response) {
            content["example"] = examples::of(route.response);
        }
        success["content"] = json!({"application/json": content});
    }
    let mut responses: Map<String, Value> = [(route.status.to_string(), success)].into_iter().collect();
    if is_versioned(route) && route.method == Method::Get {
        let headers = errors::common_headers();
        responses.insert("304".to_owned(), json!({"description": "The version that If-None-Match names is still the current one; there is no body.", "headers": headers}));
    }
    responses.extend(errors::of(route));
    Value::Object(responses)
}
