//! SCIM 2.0 for identity providers (RFC 7643, RFC 7644, RFC 9865).

use bytes::Bytes;
use candor_domain::access::{Access, QuotaClass};
use candor_domain::id::{EmployeeId, EmployeeKind, Kind};
use candor_domain::params::{Param, Params, any};
use candor_domain::refusal::DomainError;
use candor_scim::{
    CORE, LIST_SCHEMA, Projection, ScimError, UserListRequest, list, resource_types, schemas,
    service_provider_config,
};
use candor_service::usecases::scim::{self, ScimContext};
use candor_service::{Error, Reply, RequestContext};
use serde_json::{Value, json};

use crate::contract::request::{AuthenticatedRequest, Captures};
use crate::contract::route::{Dialect, DryRun, KeyedHandler, Method, Query, Route, RouteGroup, SCIM_BASE, Work};
use crate::contract::schema::scim::{PATCH_SCHEMA, discovery, patch_body, user, user_body, user_list};
use crate::contract::schema::{EMPLOYEE_ID, Schema, with};
use crate::response::error_response::ErrorResponse;
use crate::response::etag;

/// Path of users.
const USERS_PATH: &str = "/scim/v2/Users";
/// Path of a user.
const USER_PATH: &str = "/scim/v2/Users/{id}";

const USER_ROUTES: &[Route] = &[
    row(Method::Get, USERS_PATH, list_users)
        .with_name("scim.list_users", "List users")
        .description("Lists the people that the connector manages, and people without a connector, ordered by id.")
        .with(Query::list(read_list))
        .answers(&USER_LIST),
    row(Method::Post, USERS_PATH, create)
        .with_name("scim.create_user", "Create a user")
        .description("Creates, adopts or restores a person.")
        .with(Query::one(read_selection))
        .takes(&USER_BODY)
        .creates(&USER_RESOURCE),
    row(Method::Get, USER_PATH, get)
        .with_name("scim.get_user", "Get a user")
        .description("Returns one user.")
        .with(Query::one(read_selection))
        .answers(&USER_RESOURCE),
    row(Method::Put, USER_PATH, replace)
        .with_name("scim.replace_user", "Replace a user")
        .description("Replaces the managed attributes of a person. An absent `active` keeps the status.")
        .with(Query::one(read_selection))
        .takes(&USER_BODY)
        .answers(&USER_RESOURCE),
    row(Method::Patch, USER_PATH, patch_user)
        .with_name("scim.patch_user", "Change a user")
        .description("Applies all operations or none.")
        .with(Query::one(read_selection))
        .takes(&PATCH_BODY)
        .answers(&USER_RESOURCE),
    row(Method::Delete, USER_PATH, remove)
        .with_name("scim.remove_user", "Remove a user")
        .description("Deactivates a person and hides them from the connector."),
];

const DISCOVERY_ROUTES: &[Route] = &[
    discover(
        "/scim/v2/ServiceProviderConfig",
        get_config,
        "scim.get_config",
        "Get the capabilities of the service",
    ),
    discover(
        "/scim/v2/ServiceProviderConfigs",
        get_config,
        "scim.get_configs",
        "Get the capabilities at the path of SCIM 1.1",
    ),
    discover("/scim/v2/ResourceTypes", list_resource_types, "scim.list_resource_types", "List the resource types"),
    discover("/scim/v2/ResourceTypes/{id}", get_resource_type, "scim.get_resource_type", "Get a resource type"),
    discover("/scim/v2/Schemas", list_schemas, "scim.list_schemas", "List the schemas of users"),
    discover("/scim/v2/Schemas/{id}", get_schema, "scim.get_schema", "Get a schema"),
    discover("/scim/v2/Groups", list_groups, "scim.list_groups", "List no groups: they are not supported"),
];

/// The routes of users.
pub(crate) const USERS: RouteGroup =
    RouteGroup::new("Users", "People as users of an identity provider.", USER_ROUTES).id(EmployeeKind::PREFIX);

/// The routes of documents about the service.
pub(crate) const DISCOVERY: RouteGroup =
    RouteGroup::new("Discovery", "Capabilities of the service and attributes of users.", DISCOVERY_ROUTES);

/// Creates a route of SCIM. It has no dry run: unknown query parameters are ignored.
const fn row(method: Method, path: &'static str, handler: KeyedHandler) -> Route {
    let route = Route::with_key(method, path, Access::SCIM, handler).counts_as(QuotaClass::Scim);
    Route { dialect: Dialect::Scim, dry_run: DryRun::Ignored, ..route }
}

/// Creates the route of a document about the service.
const fn discover(
    path: &'static str,
    handler: KeyedHandler,
    operation: &'static str,
    summary: &'static str,
) -> Route {
    row(Method::Get, path, handler).with_name(operation, summary).answers(&DOCUMENT)
}

const SELECTION: [Param<String>; 2] = [
    any("attributes", "Names of the only attributes of the response."),
    any("excludedAttributes", "Names of attributes that the response does not have."),
];
const LIST_PARAMETERS: [Param<String>; 4] = [
    any("filter", "Conditions with `eq` and `and`, such as `userName eq \"ada@example.com\"`."),
    any("startIndex", "Position of the first user, from 1."),
    any("count", "Maximum number of users, 0 to 200. Default: 100."),
    any("cursor", "Start of the page: the `nextCursor` of the previous page; empty for the first page."),
];

fn read_list(input: &mut Params) {
    LIST_PARAMETERS.iter().for_each(|parameter| drop(input.one(parameter)));
    read_selection(input);
}

fn read_selection(input: &mut Params) {
    SELECTION.iter().for_each(|parameter| drop(input.one(parameter)));
}

/// Returns the 501 of an endpoint that the service does not support (RFC 7644 §3.2), if the path is one.
pub(crate) fn refuse_unsupported(path: &str, is_read: bool) -> Option<ErrorResponse> {
    let mut segments = path.strip_prefix(SCIM_BASE)?.split('/').filter(|segment| !segment.is_empty());
    let detail = match (segments.next()?, segments.next(), segments.next()) {
        ("Me" | "Bulk" | ".search", _, None) | (_, Some(".search"), None) => {
            "This endpoint is not supported. Use /Users."
        }
        ("Groups", _, None) if !is_read => {
            "Groups are not supported. Map the department attribute of users instead."
        }
        _ => return None,
    };
    Some(ScimError::with_status(501, detail).into())
}

/// Returns the 404 of a path without a route. `base` is the URL of the service.
pub(crate) fn no_such_path(base: &str) -> ErrorResponse {
    let detail = format!("SCIM has no such path. Users are at {base}/Users; paths are case-sensitive.");
    ScimError::with_status(404, detail).into()
}

/// Returns the context of a request about users, and the attributes of the response.
fn begin(context: RequestContext, params: &Params) -> Result<(ScimContext, Projection), Error> {
    let parameter = |name| params.value_ignoring_case(name);
    let projection = Projection::parse(parameter("attributes"), parameter("excludedAttributes"))?;
    Ok((ScimContext::new(context, etag::tag)?, projection))
}

/// Parses the id of a user. A malformed id is answered like an unknown one (decision A4).
fn user_id(captures: Captures<'_>) -> Result<EmployeeId, ScimError> {
    captures.first().parse().map_err(|_| ScimError::not_found())
}

fn list_users(request: AuthenticatedRequest<'_>) -> Work<'_> {
    Box::pin(async move {
        let list = UserListRequest::parse(|name| request.params.value_ignoring_case(name))?;
        scim::list(&ScimContext::new(request.context, etag::tag)?, &list).await
    })
}

fn create(request: AuthenticatedRequest<'_>) -> Work<'_> {
    Box::pin(async move {
        let (context, projection) = begin(request.context, &request.params)?;
        scim::create(&context, request.body, &projection).await
    })
}

fn get(request: AuthenticatedRequest<'_>) -> Work<'_> {
    Box::pin(async move {
        let (context, projection) = begin(request.context, &request.params)?;
        scim::get(&context, user_id(request.captures)?, &projection).await
    })
}

fn replace(request: AuthenticatedRequest<'_>) -> Work<'_> {
    Box::pin(async move {
        let (context, projection) = begin(request.context, &request.params)?;
        scim::replace(&context, user_id(request.captures)?, request.body, &projection).await
    })
}

fn patch_user(request: AuthenticatedRequest<'_>) -> Work<'_> {
    Box::pin(async move {
        let (context, projection) = begin(request.context, &request.params)?;
        scim::patch(&context, user_id(request.captures)?, &request.body, &projection).await
    })
}

fn remove(request: AuthenticatedRequest<'_>) -> Work<'_> {
    Box::pin(async move {
        let (context, _) = begin(request.context, &request.params)?;
        scim::remove(&context, user_id(request.captures)?).await
    })
}

/// Returns the reply with a document of the service itself.
fn document(body: Option<Value>) -> Work<'static> {
    let reply = body.map(|body| Reply::ok(Bytes::from(body.to_string()), None));
    Box::pin(async move { reply.ok_or(Error::Refused(DomainError::NotFound)) })
}

/// Returns the document with this id. The `:` of an URN may be escaped.
fn find_document(documents: Vec<Value>, captures: Captures<'_>) -> Option<Value> {
    let id = captures.first().replace("%3A", ":").replace("%3a", ":");
    documents.into_iter().find(|document| document["id"] == id)
}

fn scim_url(request: &AuthenticatedRequest<'_>) -> String {
    request.context.services.settings.scim_url()
}

fn get_config(request: AuthenticatedRequest<'_>) -> Work<'_> {
    document(Some(service_provider_config(&scim_url(&request))))
}

fn list_resource_types(request: AuthenticatedRequest<'_>) -> Work<'_> {
    document(Some(list(resource_types(&scim_url(&request)))))
}

fn get_resource_type(request: AuthenticatedRequest<'_>) -> Work<'_> {
    document(find_document(resource_types(&scim_url(&request)), request.captures))
}

fn list_schemas(request: AuthenticatedRequest<'_>) -> Work<'_> {
    document(Some(list(schemas(&scim_url(&request)))))
}

fn get_schema(request: AuthenticatedRequest<'_>) -> Work<'_> {
    document(find_document(schemas(&scim_url(&request)), request.captures))
}

fn list_groups(_: AuthenticatedRequest<'_>) -> Work<'_> {
    document(Some(list(vec![])))
}

const USER_RESOURCE: Schema = Schema::resource("User", user).example(example_of_user);
const USER_LIST: Schema = Schema::new("UserList", user_list)
    .example(|| {
        json!({"schemas": [LIST_SCHEMA], "totalResults": 1, "itemsPerPage": 1, "startIndex": 1,
                       "Resources": [example_of_user()]})
    })
    .refers_to(&[&USER_RESOURCE])
    .outcome("A page of the users, ordered by id.");
const USER_BODY: Schema = Schema::new("UserBody", user_body).example(example_of_body);
const PATCH_BODY: Schema = Schema::new("PatchOp", patch_body).example(
    || json!({"schemas": [PATCH_SCHEMA], "Operations": [{"op": "replace", "path": "active", "value": false}]}),
);
const DOCUMENT: Schema = Schema::new("Document", discovery)
    .example(|| service_provider_config("https://candor.example/scim/v2"))
    .outcome("A document about the service.");
fn example_of_body() -> Value {
    json!({"schemas": [CORE], "userName": "ada@example.com", "externalId": "00u1", "active": true,
           "name": {"givenName": "Ada", "familyName": "Example"},
           "emails": [{"type": "work", "value": "ada@example.com", "primary": true}]})
}

fn example_of_user() -> Value {
    let meta = json!({"resourceType": "User", "version": "W/\"9e3779b97f4a7c15\""});
    with(with(example_of_body(), "id", EMPLOYEE_ID), "meta", meta)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsupported_endpoint_is_501_for_each_method() {
        let is_refused = |path: &str, is_read| {
            let refusal = refuse_unsupported(&format!("{SCIM_BASE}{path}"), is_read);
            refusal.is_some_and(|refusal| refusal.status.as_u16() == 501)
        };
        for path in ["/Me", "/Bulk/", "/.search", "/Schemas/.search"] {
            assert!(is_refused(path, true) && is_refused(path, false), "{path}");
        }
        for path in ["/Groups", "/Groups/1"] {
            assert!(!is_refused(path, true) && is_refused(path, false), "{path}");
        }
        for path in ["", "/", "/Schemas", "/schemas", "/Schemas/User", "/Me/x/y"] {
            assert!(!is_refused(path, true) && !is_refused(path, false), "{path}");
        }
    }
}
