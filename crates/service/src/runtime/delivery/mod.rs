//! Deliveries of webhooks: what is queued is claimed, signed, sent, and what became of it is recorded (§6.3, §6.4).
//!
//! Each process that delivers has one [`Engine`]. It holds a bounded part of the queue, leased to it: what it takes from
//! the queue (`claim`), and what a change of this process has just queued, which is handed over with the commit
//! (`handover`) and does not wait to be found. What it does about that, and when, is decided by the
//! [`Dispatcher`](candor_dispatch::Dispatcher), a machine without I/O behind one lock; what is here calls the store and
//! the receivers for it. Attempts are made outside of any transaction, and what became of them is recorded in batches
//! (`record`). If the process dies, its leases run out, and another one delivers.

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
