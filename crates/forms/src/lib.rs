//! Values and forms of requests: what a JSON body or a query may contain, and how each problem is reported.
//!
//! [`fields`] reads bodies and [`params`] reads queries, member by member, with the rules of [`rule`]. All problems of a
//! request are collected in [`problem::ValidationErrors`]. The same rules describe the members for the API document
//! ([`schema`]). Below them are the basic values: ids, times, texts, decimals, JSON with exact numbers, secrets.
//!
//! The crate knows no resource. The resources are in `candor-domain`, which re-exports the modules of this crate.

pub use ulid;

pub mod content;
pub mod counts;
pub mod decimal;
pub mod fields;
pub mod id;
pub mod json;
pub mod page;
pub mod params;
pub mod problem;
pub mod receiver_url;
pub mod rule;
pub mod schema;
pub mod secret;
pub mod signature;
pub mod spelling;
pub mod text;
pub mod time;
pub mod window;
