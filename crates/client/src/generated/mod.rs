//! Types and methods generated from the OpenAPI document.

pub(crate) mod basic_types;
#[cfg(feature = "operations")]
pub(crate) mod filters;
#[cfg(feature = "operations")]
pub(crate) mod resources;
#[cfg(feature = "operations")]
pub(crate) mod types;
