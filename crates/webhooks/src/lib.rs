//! Sends webhooks over hyper to vetted addresses, within limits that a receiver cannot exceed.
//!
//! Every attempt looks up the host and refuses it if any address is neither public nor in a trusted network
//! ([`policy`](candor_outbound::policy)). It then opens or reuses a connection to one of these addresses. Redirects
//! are not followed, and proxies are not used. Only the head of the response matters; at most 4 KiB of the body are
//! read to keep the connection.

mod drains;
mod pool;
mod response;
mod send;

pub use candor_outbound::{HostNames, SetupError};
pub use send::{Sender, SenderSettings};

/// Runs the Rust examples of `docs/webhooks.md`, the page for receivers, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/webhooks.md")]
pub struct Documented;
