//! Builds the OpenAPI 3.1 documents of `/v1` and of SCIM from the route table, the schemas beside its rows and the rules of the
//! domain.

mod dry_run;
mod errors;
mod events;
mod exports;
mod parameters;
mod paths;
mod problems;
mod scim;
mod titles;
mod vocabulary;
mod webhooks;

use std::sync::OnceLock;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::contract::route::{BASE, Dialect};
use crate::contract::schema::take_components;
use crate::pages::asset::Asset;
use crate::response::JSON;
use crate::routes::ROUTES;

pub use scim::scim_document;

const DESCRIPTION: &str = "\
Performance feedback: people, observations about them, their objectives, and events for all changes.

Lists are paged by cursor: `{data, next_cursor, has_more}`, with the parameters `limit` and `cursor`. Filters use \
brackets, for example `filter[status]`. The prefix of an id names its resource type. Datetimes are ISO 8601 in UTC with \
milliseconds.

Every error response has the body `{error: {code, message, details?, request_id}}`. Branch on `code`. Every response has \
`X-Request-Id`, and the state of its quota in `X-RateLimit-*`.

Send `Idempotency-Key` with a POST to make retries safe: for 24 hours the same key and request get the same response. A \
client can send a resource back as it was read: unchanged immutable members are ignored.

Webhooks send events to a receiver. The section `webhooks` describes their requests.";

/// Returns the OpenAPI document of `/v1`.
#[must_use]
pub fn document() -> Value {
    json!({
        "openapi": "3.1.0",
        "info": info("Candor", "HTTP service for performance feedback", DESCRIPTION),
        "servers": [{"url": BASE}],
        "security": [{"apiKey": []}, {"identityProviderToken": []}],
        "tags": paths::tags(Dialect::V1),
        "paths": paths::all(Dialect::V1),
        "webhooks": webhooks::section(),
        "components": {
            "securitySchemes": {
                "apiKey": api_key_scheme(),
                "identityProviderToken": {
                    "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
                    "description": "A token of an identity provider of the organization. It acts for the linked person, with \
                                    the scopes of the provider.",
                },
            },
            "schemas": schemas(),
            "parameters": object(parameters::shared_parameters()),
            "headers": object(errors::headers()),
            "responses": object(errors::responses(Dialect::V1)),
        },
    })
}

fn info(title: &str, summary: &str, description: &str) -> Value {
    json!({
        "title": title,
        "version": env!("CARGO_PKG_VERSION"),
        "summary": summary,
        "description": description,
        "contact": {"name": "Operator of this service"},
        "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
    })
}

fn api_key_scheme() -> Value {
    json!({"type": "http", "scheme": "bearer", "description": "An API key, `cdr_live_…` or `cdr_test_…`."})
}

/// Returns all schemas: those that routes name, their references, and shared ones.
fn schemas() -> Value {
    let routes = ROUTES.iter().filter(|route| route.dialect == Dialect::V1);
    let of_rows = routes.flat_map(|route| [route.body.schemas(), route.response.schemas()]).flatten();
    let others = problems::schemas().into_iter().chain(dry_run::schemas()).chain(vocabulary::schemas());
    let others = others.map(|(name, schema)| (name.to_owned(), schema));
    let mut all: Map<_, _> = of_rows.chain(events::schemas()).chain(exports::schemas()).chain(others).collect();
    let references: Vec<_> = all.values_mut().flat_map(take_components).collect();
    for (name, schema) in references {
        all.entry(name).or_insert(schema);
    }
    all.iter_mut().for_each(|(name, schema)| titles::complete(name, schema));
    Value::Object(all)
}

fn object(members: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}

/// Returns the document as a static file.
pub(crate) fn document_asset() -> &'static Asset {
    static RENDERED: OnceLock<Asset> = OnceLock::new();
    RENDERED.get_or_init(|| Asset::new(JSON, Bytes::from(document().to_string())))
}
