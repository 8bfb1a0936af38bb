//! The use cases: load, decide, commit.
//!
//! The crate has four parts. [`usecases`] has a module for each resource. Its functions take the
//! [`RequestContext`], which has the caller, the conditions of the request and the [`Services`], and return a rendered
//! [`Reply`] or an [`Error`]. [`runtime`] is the background work: deliveries, mails, the sweep, the search
//! index. Both change data by [`change`] alone: plan, commit, and again if another change was committed first.
//! [`context`] is the infrastructure of all: authentication, limits, the vault, lists.
//!
//! `usecases` and `runtime` use `change` and `context`, `change` uses `context`; nothing uses a part above it, and
//! `usecases` and `runtime` do not use each other.

pub mod change;
pub mod context;
pub mod runtime;
pub mod usecases;

pub use context::error::Error;
pub use context::reply::{Outcome, Reply};
pub use context::request::{Admission, Credential, Idempotency, Precondition, RequestContext};
pub use context::services::{ServiceSettings, Services};
