//! Opens connections to vetted addresses of other systems, and sends requests over them, within limits that a peer
//! cannot exceed.
//!
//! Every attempt looks up the host and refuses it if any address is neither public nor in a network that the operator
//! trusts ([`policy`]). It then connects to one of these addresses. Redirects are not followed, and proxies are not
//! used.

mod connect;
mod connection;
mod dialer;
mod exchange;
mod failure;
pub mod policy;
mod resolve;
mod text_records;
mod tls;
mod wire;

use std::pin::Pin;

pub use connection::{Connection, Driver, Wire};
pub use dialer::{Dialer, SetupError};
pub use exchange::{NoResponse, OutboundRequest};
pub use failure::AttemptFailure;
pub use resolve::HostNames;
pub use text_records::{RecordLookupError, TextRecords};
pub use wire::{Allowance, MeteredSocket};

/// A future of this crate, in a box. The code of a future without one is compiled into each crate that awaits it,
/// together with the HTTP client and the resolver below it.
pub type BoxedFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
