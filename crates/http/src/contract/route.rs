//! Routes: one operation of the API with its requirements.
//!
//! Routing, authorization, quotas, `HEAD`, `OPTIONS`, 405 and the OpenAPI document derive from the rows of
//! [`crate::routes`].

mod dialect;
mod group;
mod handlers;
mod query;

use std::future::Future;
use std::pin::Pin;

use actix_web::HttpRequest;
use candor_domain::access::{Access, QuotaClass};
use candor_domain::fields::StringEnum;
use candor_domain::params::Params;
use candor_service::context::limits::KeylessWrite;
use candor_service::usecases::line_stream::LineStream;
use candor_service::{Error, Reply, Services};
use serde_json::Value;

use crate::contract::request::{AnonymousRequest, AuthenticatedRequest};
use crate::response::Response;

pub use crate::contract::dry_run::DryRun;
pub use crate::contract::schema::{Schema, Success};
pub use dialect::Dialect;
pub(crate) use dialect::SCIM_BASE;
pub(crate) use group::{EventFamily, RouteGroup};
pub(crate) use handlers::handlers;
pub use query::Query;

/// Prefix of every path in the table.
pub const BASE: &str = "/v1";

/// HTTP method of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads a resource; also serves `HEAD`.
    Get,
    /// Creates a resource, or runs an action on one.
    Post,
    /// Creates a resource with a known path, or replaces it.
    Put,
    /// Changes some members of a resource.
    Patch,
    /// Deletes a resource permanently.
    Delete,
}

impl Method {
    /// All methods, in the order of `Allow`.
    pub const ALL: [Self; 5] = [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// Returns the method's name in HTTP.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// Request body of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// The route accepts no body.
    None,
    /// An optional JSON object.
    Optional(&'static Schema),
    /// A mandatory JSON object.
    Required(&'static Schema),
    /// A CSV file of people.
    Csv,
}

impl Body {
    /// Returns the body's schemas, by name.
    pub(crate) fn schemas(self) -> Vec<(String, Value)> {
        match self {
            Self::None | Self::Csv => vec![],
            Self::Optional(schema) | Self::Required(schema) => schema.with_referenced_schemas(),
        }
    }
}

/// Future of a handler's answer.
pub(crate) type Work<'a> = Pin<Box<dyn Future<Output = Result<Reply, Error>> + Send + 'a>>;

/// Future of a handler that answers with lines; resolves to `None` for `HEAD`.
pub(crate) type LineWork<'a> = Pin<Box<dyn Future<Output = Result<Option<LineStream>, Error>> + 'a>>;

/// Handler of requests with an API key.
pub(crate) type KeyedHandler = for<'a> fn(AuthenticatedRequest<'a>) -> Work<'a>;

/// Handler of a route.
#[derive(Clone, Copy)]
pub(crate) enum Handler {
    /// Requires an API key.
    Keyed(KeyedHandler),
    /// Needs no API key.
    Open(for<'a> fn(&'a Services, AnonymousRequest) -> Work<'a>),
    /// Requires an API key, and sends lines of JSON as it reads them from the store. The last argument is `true`
    /// for `HEAD`.
    Lines(for<'a> fn(AuthenticatedRequest<'a>, bool) -> LineWork<'a>),
    /// Serves the OpenAPI document without an API key. A variant of its own, because the answer is a prepared
    /// asset, not a [`Reply`].
    Document,
}

/// One operation of the API.
#[derive(Clone, Copy)]
pub struct Route {
    /// HTTP method of the operation.
    pub method: Method,
    /// Form of the bodies and errors.
    pub dialect: Dialect,
    /// Path below [`Dialect::base`]. `{id}` is an identifier. A second identifier is named after its resource, as in
    /// `{message_id}`.
    pub path: &'static str,
    /// Scope, access level and environment that the key needs.
    pub access: Access,
    /// Quota class of requests to the route.
    pub quota: QuotaClass,
    /// Body that the route accepts.
    pub body: Body,
    /// `true` if the route can answer 422 although it accepts no body, because of stored data.
    pub checks_content: bool,
    /// Operation id, from which generated clients name their functions.
    pub operation: &'static str,
    /// Summary in a few words.
    pub summary: &'static str,
    /// Description beyond the summary: effects, conditions and limits.
    pub about: &'static str,
    /// Support of `dry_run=true` (decision A18).
    pub dry_run: DryRun,
    /// Query parameters; `None` if the operation has none.
    pub query: Option<Query>,
    /// Body of a successful answer.
    pub response: Success,
    /// Status of a successful answer.
    pub status: u16,
    /// Path of the collection that the new resource belongs to; `None` if it is the path of the route.
    pub collection: Option<&'static str>,
    pub(crate) handler: Handler,
    /// Quota of a write without an API key.
    pub(crate) keyless_write: Option<KeylessWrite>,
    /// HTML page that browsers get at this path, if no route serves GET there.
    pub(crate) page: Option<fn(&HttpRequest) -> Response>,
}

impl Route {
    const fn new(method: Method, path: &'static str, access: Access, handler: Handler) -> Self {
        let quota = if matches!(method, Method::Get) { QuotaClass::Read } else { QuotaClass::Write };
        Self {
            method,
            dialect: Dialect::V1,
            path,
            access,
            quota,
            body: Body::None,
            checks_content: false,
            operation: "",
            summary: "",
            about: "",
            dry_run: if matches!(method, Method::Get) { DryRun::Ignored } else { DryRun::Effects },
            query: None,
            response: Success::Empty,
            status: 200,
            collection: None,
            handler,
            keyless_write: None,
            page: None,
        }
    }

    /// Creates a route that requires an API key.
    pub(crate) const fn with_key(
        method: Method,
        path: &'static str,
        access: Access,
        handler: KeyedHandler,
    ) -> Self {
        let status = if matches!(method, Method::Delete) { 204 } else { 200 };
        Self { status, ..Self::new(method, path, access, Handler::Keyed(handler)) }
    }

    pub(crate) const fn get(path: &'static str, access: Access, handler: KeyedHandler) -> Self {
        Self::with_key(Method::Get, path, access, handler)
    }

    pub(crate) const fn post(path: &'static str, access: Access, handler: KeyedHandler) -> Self {
        Self::with_key(Method::Post, path, access, handler)
    }

    pub(crate) const fn patch(path: &'static str, access: Access, handler: KeyedHandler) -> Self {
        Self::with_key(Method::Patch, path, access, handler)
    }

    pub(crate) const fn put(path: &'static str, access: Access, handler: KeyedHandler) -> Self {
        Self::with_key(Method::Put, path, access, handler)
    }

    pub(crate) const fn delete(path: &'static str, access: Access, handler: KeyedHandler) -> Self {
        Self::with_key(Method::Delete, path, access, handler)
    }

    /// Creates a write that requires no API key.
    pub(crate) const fn open(
        write: KeylessWrite,
        path: &'static str,
        handler: for<'a> fn(&'a Services, AnonymousRequest) -> Work<'a>,
    ) -> Self {
        let route = Self::new(Method::Post, path, Access::PUBLIC, Handler::Open(handler));
        Self { keyless_write: Some(write), ..route }
    }

    pub(crate) const fn lines(
        path: &'static str,
        access: Access,
        handler: for<'a> fn(AuthenticatedRequest<'a>, bool) -> LineWork<'a>,
    ) -> Self {
        Self::new(Method::Get, path, access, Handler::Lines(handler))
    }

    pub(crate) const fn document(path: &'static str) -> Self {
        Self::new(Method::Get, path, Access::PUBLIC, Handler::Document)
    }

    pub(crate) const fn shows(self, page: fn(&HttpRequest) -> Response) -> Self {
        Self { page: Some(page), ..self }
    }

    pub(crate) const fn with_name(self, operation: &'static str, summary: &'static str) -> Self {
        Self { operation, summary, ..self }
    }

    pub(crate) const fn description(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    pub(crate) const fn takes(self, schema: &'static Schema) -> Self {
        Self { body: Body::Required(schema), ..self }
    }

    pub(crate) const fn takes_csv(self) -> Self {
        Self { body: Body::Csv, quota: QuotaClass::Csv, dry_run: DryRun::OwnForm, ..self }
    }

    pub(crate) const fn may_take(self, schema: &'static Schema) -> Self {
        Self { body: Body::Optional(schema), ..self }
    }

    pub(crate) const fn with(self, query: Query) -> Self {
        Self { query: Some(query), ..self }
    }

    /// Lets the route inline the resources that `E` names.
    pub(crate) const fn expands<E: StringEnum>(self) -> Self {
        self.with(Query::one(|input| drop(input.expand::<E>())))
    }

    /// Makes the route answer a page of these resources, with these parameters.
    pub(crate) const fn lists(self, schema: &'static Schema, read: fn(&mut Params)) -> Self {
        Self { response: Success::PageOf(schema), ..self.with(Query::list(read)) }
    }

    pub(crate) const fn answers(self, schema: &'static Schema) -> Self {
        Self { response: Success::One(schema), ..self }
    }

    /// Makes the route answer lines of JSON with this schema.
    pub(crate) const fn answers_lines(self, schema: &'static Schema) -> Self {
        Self { response: Success::Lines(schema), ..self }
    }

    pub(crate) const fn creates(self, schema: &'static Schema) -> Self {
        Self { status: 201, ..self.answers(schema) }
    }

    /// Makes the route create resources of another collection. `Location` has the path of that collection.
    pub(crate) const fn creates_in(self, collection: &'static str, schema: &'static Schema) -> Self {
        Self { collection: Some(collection), ..self.creates(schema) }
    }

    pub(crate) const fn accepts(self, schema: &'static Schema) -> Self {
        Self { status: 202, ..self.answers(schema) }
    }

    pub(crate) const fn counts_as(self, quota: QuotaClass) -> Self {
        Self { quota, ..self }
    }

    /// Refuses dry runs, because the route has effects outside the stored data.
    pub(crate) const fn has_no_dry_run(self) -> Self {
        Self { dry_run: DryRun::NotPossible, ..self }
    }

    pub(crate) const fn checks_content(self) -> Self {
        Self { checks_content: true, ..self }
    }

    /// Returns whether browsers get a page at this path and may submit its form.
    #[must_use]
    pub const fn has_page(&self) -> bool {
        self.page.is_some()
    }

    /// Returns the media type of a successful answer.
    #[must_use]
    pub const fn media_type(&self) -> &'static str {
        match self.response {
            Success::Empty | Success::One(_) | Success::PageOf(_) => self.dialect.media_types()[0],
            Success::Lines(_) => "application/x-ndjson",
        }
    }

    /// Returns whether the answer is a page of a list, which may be large.
    pub(crate) fn answers_page(&self) -> bool {
        let is_list = self.query.is_some_and(|query| query.is_list);
        matches!(self.response, Success::PageOf(_)) || (self.dialect == Dialect::Scim && is_list)
    }

    /// Returns `true` if the server reads the body of a request. SCIM routes without a body, such as DELETE, skip
    /// it.
    pub(crate) fn reads_body(&self) -> bool {
        self.method != Method::Get && (self.dialect == Dialect::V1 || self.body != Body::None)
    }

    /// Returns whether the route honors `Idempotency-Key`: every POST that needs an API key, because an
    /// idempotency key belongs to the data set of the caller (decision B2).
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        self.method == Method::Post && !self.access.is_public()
    }

    /// Returns whether the route honors `If-None-Match`: reads of resources with an `ETag` (decision A14).
    #[must_use]
    pub const fn is_revalidated(&self) -> bool {
        matches!(self.method, Method::Get)
            && (self.response.is_versioned() || matches!(self.handler, Handler::Document))
    }

    /// Returns whether the route honors `If-Match`: changes of existing resources (decision A14).
    #[must_use]
    pub fn is_conditional(&self) -> bool {
        match self.method {
            Method::Get => false,
            Method::Post => self.path.contains('{'),
            Method::Put | Method::Patch | Method::Delete => true,
        }
    }
}
