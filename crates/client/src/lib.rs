// Doctests skip the README: its examples are copies of files that other tests compile and run.
#![cfg_attr(not(doctest), doc = include_str!("../README.md"))]

mod client;
mod error;
mod events;
mod export;
mod generated;
mod health;
mod pages;
mod raw;
mod request;
mod response;
mod secret;
mod tls;
pub mod webhooks;
mod words;

pub use client::{Candor, ClientBuilder, LogEntry};
pub use error::{ApiError, Error};
pub use events::{EventBatch, FollowOptions, Follower};
pub use export::{ExportOptions, ExportReader};
/// Operations of the API: one type for each kind of resource.
pub mod resources {
    pub use crate::generated::resources::*;
}
pub use generated::types;
pub use health::{Probe, probe};
pub use pages::{Entries, Page, Pages};
pub use raw::RawRequest;
pub use request::Call;
/// Headers, methods and statuses, as in the crate `http`.
pub use reqwest::{Method, StatusCode, header::HeaderMap};
pub use response::{RateLimitState, Response};
pub use secret::Secret;
