//! The OpenAPI 3.1 document, made from the table of routes and the rules of the domain.

mod parameters;
pub(crate) mod queries;

pub use parameters::Query;

use std::sync::OnceLock;

use bytes::Bytes;
use serde_json::{Value, json};

/// The document.
#[must_use]
pub fn document() -> Value {
    json!({})
}

/// The document as it is served.
pub(crate) fn rendered() -> Bytes {
    static RENDERED: OnceLock<Bytes> = OnceLock::new();
    RENDERED.get_or_init(|| Bytes::from(document().to_string())).clone()
}
