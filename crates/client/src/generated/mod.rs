//! Types and methods generated from the OpenAPI document.

pub(crate) mod basic_types;
#[cfg(feature = "operations")]
pub(crate) mod resources;
pub(crate) mod tables;
#[cfg(feature = "operations")]
pub(crate) mod types;
