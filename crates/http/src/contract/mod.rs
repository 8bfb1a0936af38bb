//! What the contract says of an operation: its route, parameters, headers, body and schemas.

pub(crate) mod dry_run;
pub(crate) mod framing;
pub(crate) mod parsed_body;
pub(crate) mod request;
pub(crate) mod route;
pub(crate) mod schema;
