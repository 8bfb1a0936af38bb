//! The use cases: load, decide, commit.
//!
//! A function per use case takes the [`Shell`], which does what every change needs besides its decision, and the
//! [`Call`], which says who asks and under which conditions. It answers a rendered [`Reply`] or an [`Error`].

pub mod assignments;
pub mod audit_log;
pub mod auth;
pub mod call;
mod change;
pub mod connectors;
pub mod conversations;
pub mod copy;
pub mod delivery;
pub mod employees;
pub mod error;
pub mod events;
mod expand;
mod fan_out;
pub mod invitations;
mod kept_answers;
pub mod keys;
pub mod library;
pub mod limits;
pub mod list;
pub mod mail;
pub mod master_key;
pub mod notifications;
pub mod objective_autostart;
pub mod objectives;
pub mod observations;
pub mod operator;
pub mod organization;
pub mod reminders;
pub mod reply;
mod reports;
pub mod retention;
pub mod search;
pub mod search_index;
pub mod shell;
mod striped_locks;
pub mod summaries;
pub mod sweep;
pub mod tenant_sizes;
pub mod test_data;
pub mod vault;
mod visible;
pub mod webhooks;

pub use call::{Call, Idempotency, Precondition};
pub use error::Error;
pub use reply::{Outcome, Reply};
pub use shell::{Shell, ShellSettings};
