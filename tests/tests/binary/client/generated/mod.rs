//! A call of every operation by its name, generated from the OpenAPI document.

pub(super) mod dispatch;
