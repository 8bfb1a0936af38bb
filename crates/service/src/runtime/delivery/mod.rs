//! Delivery of webhooks: claims queued deliveries, signs and sends them, and records the results (§6.3, §6.4).
//!
//! Each process that delivers has one [`Engine`]. It holds a bounded number of leased deliveries. It claims them from
//! the store (`claim`), or a commit of this process that queues deliveries hands them over (`handover`). The
//! [`Dispatcher`](candor_dispatch::Dispatcher), a state machine without I/O behind one lock, decides which call comes
//! next. This module makes the calls to the store and the receivers.
//! Attempts run outside of transactions, and their results are recorded in batches (`record`). If the process
//! dies, its leases expire and another process delivers.

mod attempt;
mod claim;
mod disable;
mod engine;
mod handover;
mod message;
mod metrics;
mod record;
mod subscription_cache;

pub use candor_dispatch::Settings;
pub use engine::Engine;
