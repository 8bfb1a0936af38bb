//! Sessions that check or change the schema, and support for poolers.

pub(crate) mod keyed_texts;
pub(crate) mod pooler;
pub(crate) mod probe;
pub(crate) mod session;
