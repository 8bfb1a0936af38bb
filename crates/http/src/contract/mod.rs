//! Operations as the contract describes them: routes, parameters, headers, bodies and schemas.

pub(crate) mod dry_run;
pub(crate) mod framing;
pub(crate) mod parsed_body;
pub(crate) mod request;
pub(crate) mod route;
pub(crate) mod schema;
