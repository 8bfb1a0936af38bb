//! Sends webhooks over hyper, to addresses that were vetted, within bounds that no receiver can stretch.
//!
//! Every attempt looks the host up, refuses it if any answer is an address that is not public ([`policy`]), and dials or
//! reuses a connection to one of exactly these addresses. Redirects are not followed and proxies not used. The answer's
//! head is all that counts; of its body at most 4 KiB are read, to keep the connection.

mod answer;
mod connect;
pub mod policy;
mod pool;
mod resolve;
mod send;
mod tls;
mod wire;

pub use resolve::HostNames;
pub use send::{Sender, SenderSettings, SetupError};

/// Runs the Rust examples of the page for receivers.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/webhooks.md")]
pub struct Documented;
