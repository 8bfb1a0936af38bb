//! Candor over HTTP: routes, envelope, headers, OpenAPI.
//!
//! One [table](table::ROUTES) lists every route with its requirements. Routing, authorization, quotas, `HEAD`,
//! `OPTIONS`, 405 and the [OpenAPI document](openapi::document) derive from it. A handler only calls its use
//! case.

mod connection;
mod contract;
mod meters;
pub mod openapi;
mod pages;
mod pipeline;
mod reference;
mod response;
mod routes;
mod server;

/// The table of routes.
pub mod table {
    pub use crate::contract::route::{BASE, Body, Dialect, DryRun, Method, Query, Route, Schema, Success};
    pub use crate::routes::ROUTES;
}

pub use connection::address::{Network, ProxyNetworkError};
pub use connection::listening::refuse_connections;
pub use pipeline::api::Api;
pub use pipeline::settings::{AdoptTrace, HttpSettings, MetricsText};
pub use response::byte_budget::ByteLimits;
pub use response::health::Readiness;
pub use server::admin::{AdminState, admin_server};
pub use server::{ServerOptions, configure, server};
