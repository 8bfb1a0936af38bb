//! Route of the OpenAPI document.

use serde_json::{Value, json};

use crate::contract::route::{Route, RouteGroup};
use crate::contract::schema::Schema;
use crate::contract::schema::shapes::{field, plain, response};

const ROUTES: &[Route] = &[Route::document("/openapi.json")
    .with_name("getDocument", "Get the OpenAPI document")
    .description(
        "Returns the OpenAPI document of this API. The reference and the client libraries are generated from it.",
    )
    .answers(&DOCUMENT)];

/// The single route of the document.
pub(crate) const GROUP: RouteGroup = RouteGroup::new("About", "The OpenAPI document.", ROUTES);

const DOCUMENT: Schema = Schema::new("Document", document).example(example).outcome("The OpenAPI document.");

/// Returns the schema of the document, which covers only its top-level members.
fn document() -> Value {
    let object = || json!({"type": "object", "additionalProperties": true});
    let members = vec![
        field("openapi", plain(), "Version of the OpenAPI specification."),
        field("info", object(), "Title, version and description of this API."),
        field("paths", object(), "All operations, by path and method."),
    ];
    let mut schema = response(members, vec![]);
    schema["additionalProperties"] = json!(true);
    schema
}

fn example() -> Value {
    json!({"openapi": "3.1.0", "info": {"title": "Candor", "version": env!("CARGO_PKG_VERSION")}, "paths": {}})
}
