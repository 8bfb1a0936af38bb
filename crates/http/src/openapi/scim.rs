//! The OpenAPI document of SCIM. It is separate from the document of `/v1`, from which client libraries are
//! generated: identity providers have clients of their own, and errors, media types and paths differ.

use serde_json::{Map, Value, json};

use super::{errors, object, parameters, paths};
use crate::contract::route::{Dialect, Route};
use crate::contract::schema::scim::error;
use crate::routes::ROUTES;

/// Name of the schema of errors.
pub(super) const ERROR: &str = "ScimError";

const DESCRIPTION: &str = "\
SCIM 2.0 for identity providers (RFC 7643, RFC 7644, RFC 9865). `/scim/v2/Schemas` has the attributes of users.

The API key has the scope `scim` and belongs to a connector.";

/// Returns the OpenAPI document of SCIM.
#[must_use]
pub fn scim_document() -> Value {
    let routes = || ROUTES.iter().filter(|route| route.dialect == Dialect::Scim);
    let of_rows = routes().flat_map(|route: &Route| [route.body.schemas(), route.response.schemas()]).flatten();
    let schemas: Map<_, _> = of_rows.chain([(ERROR.to_owned(), error())]).collect();
    let is_used = |(name, _): &(&str, Value)| ["IdempotencyKey", "IfMatch", "IfNoneMatch"].contains(name);
    json!({
        "openapi": "3.1.0",
        "info": super::info("Candor SCIM", "People as users of an identity provider", DESCRIPTION),
        "servers": [{"url": "/"}],
        "security": [{"apiKey": []}],
        "tags": paths::tags(Dialect::Scim),
        "paths": paths::all(Dialect::Scim),
        "components": {
            "securitySchemes": {"apiKey": super::api_key_scheme()},
            "schemas": schemas,
            "parameters": object(parameters::shared_parameters().into_iter().filter(is_used)),
            "headers": object(errors::headers().into_iter().filter(|(name, _)| *name != "DryRun")),
            "responses": object(errors::responses(Dialect::Scim).into_iter().filter(|(name, _)| *name != "Unprocessable")),
        },
    })
}
