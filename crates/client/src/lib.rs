//! The client library for Rust: typed operations, retries, pages, events and webhooks of the API.
//!
// Doctests skip the README: its examples are copies of files that other tests compile and run.
#![cfg_attr(not(doctest), doc = include_str!("../README.md"))]

#[cfg(feature = "operations")]
mod call;
mod changes;
mod client;
mod error;
#[cfg(feature = "operations")]
mod events;
mod export;
mod feed;
mod generated;
mod headers;
mod health;
mod log;
#[cfg(feature = "operations")]
mod pages;
mod raw;
mod request;
mod response;
mod secret;
mod tls;
#[cfg(feature = "operations")]
pub mod webhooks;
mod words;

#[cfg(feature = "operations")]
pub use call::Call;
pub use changes::{ChangeBatch, ChangedRow, Changes, ChangesOptions, Removal, RemovedRows};
pub use client::{Candor, ClientBuilder};
pub use error::{ApiError, Error};
#[cfg(feature = "operations")]
pub use events::{EventBatch, FollowOptions, Follower};
pub use export::{ExportOptions, ExportReader};
/// Operations of the API: one type for each kind of resource.
#[cfg(feature = "operations")]
pub mod resources {
    pub use crate::generated::resources::*;
}
/// Types of requests and responses. Without the feature `operations`, only the types of raw requests and of
/// errors.
pub mod types {
    #[cfg(not(feature = "operations"))]
    pub use crate::generated::basic_types::*;
    #[cfg(feature = "operations")]
    pub use crate::generated::types::*;
}
pub use health::{Probe, probe};
pub use log::LogEntry;
#[cfg(feature = "operations")]
pub use pages::{Entries, Page, Pages};
pub use raw::RawRequest;
/// Headers, methods and statuses, as in the crate `http`.
pub use reqwest::{Method, StatusCode, header::HeaderMap};
pub use response::{ApiResponse, RateLimitState};
pub use secret::Secret;
