//! Counts the quotas of keys for all instances together, on a server that speaks the protocol of Redis, such as Valkey.
//!
//! A window is a list of the times at which its requests came, oldest first and never longer than the limit. One script
//! drops what has left the window, counts or refuses, and tells what it holds, by the clock of the server; no two scripts
//! run at the same time. So the window is exact over all instances, and their own clocks do not matter.

mod script;
mod server;
mod store;

pub use server::{InvalidRedisUrl, RedisServer};
pub use store::RedisRateLimits;
