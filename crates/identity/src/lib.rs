//! Requests to identity providers over hyper, to vetted addresses only.
//!
//! Every request looks up the host and opens a connection of its own, because documents are fetched rarely. Redirects
//! are not followed, proxies and cookies do not exist, and the size and the time of a response are limited.

mod body;
mod client;
mod form;

pub use candor_outbound::{HostNames, SetupError};
pub use client::{IdentityClient, IdentitySettings};
