//! Types and methods generated from the OpenAPI document.

pub(crate) mod resources;
pub mod types;
