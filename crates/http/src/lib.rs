//! Candor over HTTP: routes, envelope, headers, OpenAPI.
//!
//! One [table](table::ROUTES) names every route with what it demands; it drives routing, authorization, quotas, `HEAD`,
//! `OPTIONS`, 405 and the [OpenAPI document](openapi::document). A handler names the use case, nothing more.

mod address;
mod admin;
mod answer;
mod api;
mod compress;
mod cors;
mod dispatch;
mod docs;
mod etag;
mod exchange;
mod fault;
mod framing;
mod health;
pub mod openapi;
mod record;
mod router;
mod routes;
mod server;
mod settings;
pub mod table;
mod wire;

pub use address::{Network, NotANetwork};
pub use admin::{Watched, admin_server};
pub use api::{Api, configure};
pub use health::Readiness;
pub use server::{ServerOptions, server};
pub use settings::{MetricsText, Settings};
