//! Candor over HTTP: routes, envelope, headers, OpenAPI.
//!
//! One [table](table::ROUTES) lists every route with its requirements. Routing, authorization, quotas, `HEAD`,
//! `OPTIONS`, 405 and the [OpenAPI document](openapi::document) derive from it. A handler only calls its use
//! case.

mod address;
mod admin;
mod admission;
mod answer;
mod api;
mod asset;
mod blank_line;
mod body;
mod byte_budget;
mod compress;
mod connections;
mod console;
mod cors;
mod dispatch;
mod docs;
mod dry_run;
mod error_response;
mod etag;
mod exchange;
mod framing;
mod health;
mod invitation_page;
mod large_body;
mod line_body;
mod listening;
pub mod openapi;
mod pace;
mod paced;
mod parsed_body;
mod read_gate;
mod read_turns;
mod record;
mod reference;
mod request;
mod response;
mod route;
mod router;
mod routes;
mod schema;
mod server;
mod settings;
mod span;
mod wire;

/// The table of routes.
pub mod table {
    pub use crate::route::{BASE, Body, DryRun, Method, Query, Route, Schema, Success};
    pub use crate::routes::ROUTES;
}

pub use address::{InvalidNetwork, Network};
pub use admin::{AdminState, admin_server};
pub use api::Api;
pub use byte_budget::ByteLimits;
pub use health::Readiness;
pub use listening::refuse_connections;
pub use server::{ServerOptions, configure, server};
pub use settings::{AdoptTrace, HttpSettings, MetricsText};
