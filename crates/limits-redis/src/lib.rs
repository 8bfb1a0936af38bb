//! Counts requests against the quotas of API keys for all instances, on a server that speaks the Redis protocol,
//! such as Valkey.
//!
//! A window is a list of the times of its requests, oldest first and never longer than the limit. One script drops
//! the times that have left the window, counts or refuses the request, and returns the state, by the clock of the
//! server. The server runs one script at a time. The window is therefore exact over all instances, and their own
//! clocks do not matter.

mod script;
mod server;
mod store;

pub use server::{RedisServer, RedisUrlError};
pub use store::RedisRateLimits;
