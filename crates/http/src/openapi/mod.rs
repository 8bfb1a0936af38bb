//! The OpenAPI 3.1 document, made from the table of routes, what stands beside its rows, and the rules of the domain.

mod errors;
mod events;
mod parameters;
mod paths;
mod problems;
mod titles;
mod vocabulary;
mod webhooks;

pub(crate) use events::union_of_all;

use std::sync::OnceLock;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::answer::JSON;
use crate::asset::Asset;
use crate::table::{BASE, ROUTES};

const DESCRIPTION: &str = "\
Performance feedback: observations about people, their objectives, the people themselves, and what happened to them.

Lists are paged by cursor: `{data, next_cursor, has_more}`, with `limit` and `cursor`. Filters use brackets, for example \
`filter[status]`. Identifiers have a prefix that says what they name. Datetimes are ISO 8601 in UTC with milliseconds.

Every answer that is not a success has the body `{error: {code, message, details?, request_id}}`; branch on `code`. \
Every answer carries `X-Request-Id` and the state of the quota that the request counted against.

Send `Idempotency-Key` with a POST to retry it safely: for 24 hours the same key and request get the same answer. A \
resource can be sent back as it was read: members that cannot be changed are ignored as long as they are equal.

Webhooks tell a receiver what has happened; `webhooks` describes the requests that it gets.";

/// The document.
#[must_use]
pub fn document() -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Candor",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Performance feedback as a service",
            "description": DESCRIPTION,
            "contact": {"name": "Whoever operates this service"},
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": BASE}],
        "security": [{"apiKey": []}],
        "tags": paths::tags(),
        "paths": paths::all(),
        "webhooks": webhooks::section(),
        "components": {
            "securitySchemes": {"apiKey": {
                "type": "http", "scheme": "bearer", "description": "An API key, `cdr_live_…` or `cdr_test_…`.",
            }},
            "schemas": schemas(),
            "parameters": object(parameters::shared()),
            "headers": object(errors::headers()),
            "responses": object(errors::responses()),
        },
    })
}

/// Every schema that a row names, with those that these refer to, and what belongs to no row.
fn schemas() -> Value {
    let of_rows = ROUTES.iter().flat_map(|it| [it.body.schemas(), it.response.schemas()]).flatten();
    let others = problems::schemas().into_iter().chain(vocabulary::schemas());
    let others = others.map(|(name, schema)| (name.to_owned(), schema));
    let all = of_rows.chain(events::schemas()).chain(others);
    Value::Object(all.map(|(name, schema)| (name.clone(), titles::complete(&name, schema))).collect())
}

fn object(members: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}

/// The document as it is served.
pub(crate) fn rendered() -> &'static Asset {
    static RENDERED: OnceLock<Asset> = OnceLock::new();
    RENDERED.get_or_init(|| Asset::new(JSON, Bytes::from(document().to_string())))
}
