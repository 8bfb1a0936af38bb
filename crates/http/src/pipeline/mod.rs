//! The path of a request: checks in a fixed order, the use case, the response and its record.

pub(crate) mod admission;
pub(crate) mod api;
pub(crate) mod backchannel_logout;
pub(crate) mod cors;
pub(crate) mod dispatch;
pub(crate) mod docs;
pub(crate) mod exchange;
pub(crate) mod large_body;
pub(crate) mod read_turns;
pub(crate) mod record;
pub(crate) mod response;
pub(crate) mod router;
pub(crate) mod scim_log;
pub(crate) mod settings;
pub(crate) mod sign_in;
pub(crate) mod span;
