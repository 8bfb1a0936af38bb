//! Sessions that look at the schema or change it, and poolers that may stand in between.

pub(crate) mod pooler;
pub(crate) mod probe;
pub(crate) mod session;
