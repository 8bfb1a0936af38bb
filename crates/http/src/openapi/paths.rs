//! Operations of the OpenAPI document, one per route.

use candor_domain::access::{AdminContext, Environment};
use candor_domain::fields::StringEnum;
use serde_json::{Map, Value, json};

use super::{errors, parameters};
use crate::contract::route::{Body, Dialect, DryRun, Method, Route, RouteGroup};
use crate::contract::schema::shapes::{plain, reference_to};
use crate::routes::GROUPS;
use crate::routes::employees::report;

/// Returns the groups of a dialect, in document order.
fn groups(dialect: Dialect) -> impl Iterator<Item = &'static RouteGroup> {
    GROUPS.iter().filter(move |group| group.routes.iter().all(|route| route.dialect == dialect))
}

/// Returns the tags, in document order.
pub(super) fn tags(dialect: Dialect) -> Value {
    let groups_with_text = groups(dialect).filter(|group| !group.about.is_empty());
    groups_with_text.map(|group| json!({"name": group.tag, "description": group.about})).collect()
}

/// Returns every path with its operations.
pub(super) fn all(dialect: Dialect) -> Value {
    let mut paths = Map::new();
    for group in groups(dialect) {
        for route in group.routes {
            let path = paths.entry(route.path).or_insert_with(|| path_of(group, route));
            path[route.method.word().to_ascii_lowercase()] = operation(group, route);
        }
    }
    Value::Object(paths)
}

/// Returns a path item without operations: only its identifier parameters.
fn path_of(group: &RouteGroup, route: &Route) -> Value {
    if !route.path.contains("{id}") {
        return json!({});
    }
    if group.id.is_empty() {
        let about = "Name of the document.";
        let id = json!({"name": "id", "in": "path", "required": true, "description": about, "schema": plain()});
        return json!({"parameters": [id]});
    }
    let second = group.second_id.filter(|(name, _)| route.path.contains(&format!("{{{name}}}")));
    let ids = [("id", group.id)].into_iter().chain(second);
    json!({"parameters": ids.map(|(name, prefix)| id_parameter(name, prefix)).collect::<Vec<_>>()})
}

fn id_parameter(name: &str, prefix: &str) -> Value {
    let pattern = format!("^{prefix}_[0-7][0-9A-HJKMNP-TV-Z]{{25}}$");
    let about = format!("Id with the prefix `{prefix}_`. 404 if the organization has no such resource.");
    json!({
        "name": name, "in": "path", "required": true, "description": about,
        "schema": {"type": "string", "pattern": pattern},
    })
}

fn operation(group: &RouteGroup, route: &Route) -> Value {
    let mut parameters = route.query.map(parameters::describe).unwrap_or_default();
    if route.dry_run == DryRun::Effects {
        parameters.push(parameters::shared_reference("DryRun"));
    }
    if route.is_idempotent() {
        parameters.push(parameters::shared_reference("IdempotencyKey"));
    }
    if route.is_conditional() {
        parameters.push(parameters::shared_reference("IfMatch"));
    }
    if route.is_revalidated() {
        parameters.push(parameters::shared_reference("IfNoneMatch"));
    }
    let mut operation = json!({
        "operationId": route.operation,
        "summary": route.summary,
        "description": format!("{}\n\n{}", route.about, demands(route)).trim_start(),
        "tags": [group.tag],
        "parameters": parameters,
        "responses": responses(route),
    });
    if let Body::Optional(schema) | Body::Required(schema) = route.body {
        let is_required = matches!(route.body, Body::Required(_));
        let content = content(schema.name, schema.example_value());
        let content: Map<_, _> =
            route.dialect.media_types().iter().map(|name| ((*name).to_owned(), content.clone())).collect();
        operation["requestBody"] = json!({"required": is_required, "content": content});
    }
    if route.body == Body::Csv {
        operation["requestBody"] = report::body();
    }
    if route.access.is_public() {
        operation["security"] = json!([]);
    }
    operation
}

/// Describes the access and the quota class of a route.
fn demands(route: &Route) -> String {
    let access = &route.access;
    let mut text = match (access.required_scope(), access.admin_context()) {
        (Some(scope), None) => format!("Needs the scope `{}`.", scope.word()),
        (Some(scope), Some(AdminContext::Data)) => {
            format!(
                "Needs the scope `{}` and an admin-level key, or one that acts for an org admin.",
                scope.word()
            )
        }
        (Some(scope), Some(AdminContext::Settings)) => {
            format!("Needs the scope `{}` and an admin-level key.", scope.word())
        }
        (Some(scope), Some(AdminContext::People)) => {
            format!("Needs the scope `{}`. {NO_BOUND_KEYS}", scope.word())
        }
        (Some(scope), Some(AdminContext::Organization)) => {
            let other = access.other_scope().map(|other| format!(" or `{}`", other.word())).unwrap_or_default();
            format!(
                "Needs the scope `{}`{other} and an admin-level key. Keys that act for a person are refused.",
                scope.word()
            )
        }
        (None, _) if access.is_public() => "Needs no API key.".to_owned(),
        (None, _) if access.reads_types() => "Needs the read scope of each type that is searched.".to_owned(),
        (None, _) => "Needs any valid API key.".to_owned(),
    };
    match access.environment() {
        Some(Environment::Live) => text.push_str(" Test keys are refused."),
        Some(Environment::Test) => text.push_str(" Live keys are refused."),
        None => {}
    }
    if route.dry_run == DryRun::NotPossible {
        text.push_str(" `dry_run=true` is refused with 400 `not_possible`.");
    }
    if access.needs_full_sight() {
        text.push_str(&format!(" {NO_BOUND_KEYS}"));
    }
    if !access.is_public() {
        text.push_str(&format!(" Counts as `{}`.", route.quota.word()));
    }
    text
}

/// Notice for routes that refuse keys bound to people who are not org admins.
const NO_BOUND_KEYS: &str = "Keys that act for a person are refused, unless that person is an org admin.";

/// Returns the content of a body with this schema and example.
fn content(schema: &str, example: Option<Value>) -> Value {
    let mut content = json!({"schema": reference_to(schema)});
    if let Some(example) = example {
        content["example"] = example;
    }
    content
}

/// Returns the description of a successful answer.
fn outcome(route: &Route) -> &'static str {
    route.response.outcome().unwrap_or(match (route.method, route.status) {
        (_, 201) => "The new resource.",
        (Method::Get, _) => "The current resource.",
        (Method::Post | Method::Put | Method::Patch | Method::Delete, _) => "The resource after the change.",
    })
}

fn responses(route: &Route) -> Value {
    let mut headers = errors::common_headers();
    let header = |name: &str| json!({"$ref": format!("#/components/headers/{name}")});
    if route.response.is_versioned() || route.is_revalidated() {
        headers["ETag"] = header("ETag");
    }
    if route.is_idempotent() {
        headers["Idempotent-Replayed"] = header("Replayed");
    }
    if route.status == 201 {
        headers["Location"] = header("Location");
    }
    let mut success = json!({"description": outcome(route), "headers": headers});
    if let Some(name) = route.response.name() {
        let media_type = route.media_type();
        success["content"] = json!({media_type: content(&name, route.response.example_value())});
    }
    let mut responses: Map<String, Value> = [(route.status.to_string(), success)].into_iter().collect();
    if route.is_revalidated() {
        let headers = errors::common_headers();
        responses.insert(
            "304".to_owned(),
            json!({"description": "The version in If-None-Match is still current. The response has no body.", "headers": headers}),
        );
    }
    responses.extend(errors::error_responses(route));
    Value::Object(responses)
}
