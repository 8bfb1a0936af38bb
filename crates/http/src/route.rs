//! A route: one operation of the API with everything that a request for it demands.
//!
//! Routing, authorization, quotas, `HEAD`, `OPTIONS`, 405 and the OpenAPI document follow from the rows of
//! [`crate::routes`].

mod group;
mod query;

use std::future::Future;
use std::pin::Pin;

use actix_web::HttpRequest;
use candor_domain::access::{Access, QuotaClass};
use candor_domain::fields::Word;
use candor_domain::params::Params;
use candor_service::{Error, Reply, Services};
use serde_json::Value;

use crate::answer::Answer;
use crate::request::{AnonymousRequest, AuthenticatedRequest};

pub use crate::schema::{Schema, Success};
pub(crate) use group::{EventFamily, RouteGroup};
pub use query::Query;

/// Every path of the table stands below this.
pub const BASE: &str = "/v1";

/// What a route does with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads it; `HEAD` too.
    Get,
    /// Makes a new one, or does something with it.
    Post,
    /// Changes part of it.
    Patch,
    /// Removes it for good.
    Delete,
}

impl Method {
    /// Every method of the table, in the order of `Allow`.
    pub const ALL: [Self; 4] = [Self::Get, Self::Post, Self::Patch, Self::Delete];

    /// As HTTP writes it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// What the body of a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// None.
    None,
    /// A JSON object, or none at all.
    Optional(&'static Schema),
    /// A JSON object.
    Required(&'static Schema),
    /// A CSV file of people.
    Csv,
}

impl Body {
    /// The schemas that it is made of, each with its name.
    pub(crate) fn schemas(self) -> Vec<(String, Value)> {
        match self {
            Self::None | Self::Csv => vec![],
            Self::Optional(schema) | Self::Required(schema) => schema.with_those_it_refers_to(),
        }
    }
}

/// The answer of a handler, while it is being worked on.
pub(crate) type Work<'a> = Pin<Box<dyn Future<Output = Result<Reply, Error>> + 'a>>;

/// Names the use case behind a route.
#[derive(Clone, Copy)]
pub(crate) enum Handler {
    /// For callers with a key.
    Keyed(for<'a> fn(&'a Services, AuthenticatedRequest<'a>) -> Work<'a>),
    /// For anybody.
    Open(for<'a> fn(&'a Services, AnonymousRequest) -> Work<'a>),
    /// The OpenAPI document, for every client. It is made from all routes, so no row can name it.
    Document,
}

/// One route.
#[derive(Clone, Copy)]
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path below [`BASE`]; `{id}` stands for an identifier, and a second one has a name that says of what.
    pub path: &'static str,
    /// The callers that it admits.
    pub access: Access,
    /// What its requests count as.
    pub quota: QuotaClass,
    /// What its body is.
    pub body: Body,
    /// Whether it answers 422 without a body, because of what is stored.
    pub checks_content: bool,
    /// The name of the operation, for clients made from the document.
    pub operation: &'static str,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// What it does beyond that: effects, conditions and what it leaves alone.
    pub about: &'static str,
    /// The parameters it takes.
    pub query: Option<Query>,
    /// What it answers when it succeeds.
    pub response: Success,
    /// The status of a success.
    pub status: u16,
    pub(crate) handler: Handler,
    /// What browsers get at the same path that has no route for GET.
    pub(crate) page: Option<fn(&HttpRequest) -> Answer>,
}

impl Route {
    const fn new(method: Method, path: &'static str, access: Access, handler: Handler) -> Self {
        let quota = if matches!(method, Method::Get) { QuotaClass::Read } else { QuotaClass::Write };
        Self {
            method,
            path,
            access,
            quota,
            body: Body::None,
            checks_content: false,
            operation: "",
            summary: "",
            about: "",
            query: None,
            response: Success::Empty,
            status: 200,
            handler,
            page: None,
        }
    }

    /// For callers with a key.
    pub(crate) const fn keyed(
        method: Method,
        path: &'static str,
        access: Access,
        handler: for<'a> fn(&'a Services, AuthenticatedRequest<'a>) -> Work<'a>,
    ) -> Self {
        let status = if matches!(method, Method::Delete) { 204 } else { 200 };
        Self { status, ..Self::new(method, path, access, Handler::Keyed(handler)) }
    }

    pub(crate) const fn get(
        path: &'static str,
        access: Access,
        handler: for<'a> fn(&'a Services, AuthenticatedRequest<'a>) -> Work<'a>,
    ) -> Self {
        Self::keyed(Method::Get, path, access, handler)
    }

    pub(crate) const fn post(
        path: &'static str,
        access: Access,
        handler: for<'a> fn(&'a Services, AuthenticatedRequest<'a>) -> Work<'a>,
    ) -> Self {
        Self::keyed(Method::Post, path, access, handler)
    }

    pub(crate) const fn patch(
        path: &'static str,
        access: Access,
        handler: for<'a> fn(&'a Services, AuthenticatedRequest<'a>) -> Work<'a>,
    ) -> Self {
        Self::keyed(Method::Patch, path, access, handler)
    }

    pub(crate) const fn delete(
        path: &'static str,
        access: Access,
        handler: for<'a> fn(&'a Services, AuthenticatedRequest<'a>) -> Work<'a>,
    ) -> Self {
        Self::keyed(Method::Delete, path, access, handler)
    }

    pub(crate) const fn open(
        method: Method,
        path: &'static str,
        handler: for<'a> fn(&'a Services, AnonymousRequest) -> Work<'a>,
    ) -> Self {
        Self::new(method, path, Access::PUBLIC, Handler::Open(handler))
    }

    pub(crate) const fn document(path: &'static str) -> Self {
        Self::new(Method::Get, path, Access::PUBLIC, Handler::Document)
    }

    pub(crate) const fn shows(self, page: fn(&HttpRequest) -> Answer) -> Self {
        Self { page: Some(page), ..self }
    }

    pub(crate) const fn named(self, operation: &'static str, summary: &'static str) -> Self {
        Self { operation, summary, ..self }
    }

    pub(crate) const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    pub(crate) const fn takes(self, schema: &'static Schema) -> Self {
        Self { body: Body::Required(schema), ..self }
    }

    pub(crate) const fn takes_csv(self) -> Self {
        Self { body: Body::Csv, quota: QuotaClass::Csv, ..self }
    }

    pub(crate) const fn may_take(self, schema: &'static Schema) -> Self {
        Self { body: Body::Optional(schema), ..self }
    }

    pub(crate) const fn with(self, query: Query) -> Self {
        Self { query: Some(query), ..self }
    }

    /// One resource, in which these can be inlined.
    pub(crate) const fn expands<E: Word>(self) -> Self {
        self.with(Query::one(|it| drop(it.expand::<E>())))
    }

    /// A page of a list of these, with these parameters.
    pub(crate) const fn lists(self, schema: &'static Schema, read: fn(&mut Params)) -> Self {
        Self { response: Success::PageOf(schema), ..self.with(Query::list(read)) }
    }

    pub(crate) const fn answers(self, schema: &'static Schema) -> Self {
        Self { response: Success::One(schema), ..self }
    }

    pub(crate) const fn creates(self, schema: &'static Schema) -> Self {
        Self { status: 201, ..self.answers(schema) }
    }

    pub(crate) const fn accepts(self, schema: &'static Schema) -> Self {
        Self { status: 202, ..self.answers(schema) }
    }

    pub(crate) const fn counts_as(self, quota: QuotaClass) -> Self {
        Self { quota, ..self }
    }

    pub(crate) const fn checks_content(self) -> Self {
        Self { checks_content: true, ..self }
    }

    /// Whether browsers get a page at the path of this route, and may send its form there.
    #[must_use]
    pub const fn has_page(&self) -> bool {
        self.page.is_some()
    }

    /// Whether `Idempotency-Key` counts: on every POST with a key, because its scope is the caller's data set
    /// (decision B2).
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        self.method == Method::Post && !self.access.is_public()
    }

    /// Whether `If-None-Match` counts: on what has an `ETag` of its own (decision A14).
    #[must_use]
    pub const fn is_revalidated(&self) -> bool {
        matches!(self.method, Method::Get)
            && (self.response.is_versioned() || matches!(self.handler, Handler::Document))
    }

    /// Whether `If-Match` counts: on what changes something that is there (decision A14).
    #[must_use]
    pub fn is_conditional(&self) -> bool {
        match self.method {
            Method::Get => false,
            Method::Post => self.path.contains('{'),
            Method::Patch | Method::Delete => true,
        }
    }
}
