//! The use cases: load, decide, commit.
//!
//! The crate has three parts. [`usecases`] has a module for each resource. Its functions take the [`Services`]
//! and the [`RequestContext`], which has the caller and the conditions of the request, and return a rendered
//! [`Reply`] or an [`Error`]. [`runtime`] is the background work: deliveries, mails, the sweep, the search
//! index. [`context`] is the infrastructure of both: the change operations, authentication, limits, the vault,
//! lists.
//!
//! `usecases` and `runtime` use `context`; `context` uses neither of them, and they do not use each other.

pub mod context;
pub mod runtime;
pub mod usecases;

pub use context::error::Error;
pub use context::reply::{Outcome, Reply};
pub use context::request::{Idempotency, Precondition, RequestContext};
pub use context::services::{ServiceSettings, Services};
