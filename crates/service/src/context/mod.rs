//! Infrastructure shared by all use cases and background workers.

pub mod auth;
pub(crate) mod change;
pub mod clocks;
pub(crate) mod counts;
mod dry_run;
pub mod error;
pub(crate) mod expand;
pub(crate) mod fan_out;
pub(crate) mod handover;
pub(crate) mod invitation_events;
pub(crate) mod invitation_tokens;
pub mod limits;
pub mod list;
pub mod master_key;
pub(crate) mod notices;
pub mod reply;
pub(crate) mod reports;
pub mod request;
pub(crate) mod search_cache;
pub(crate) mod search_index;
pub mod services;
mod stored_replies;
mod striped_locks;
pub mod tenant_sizes;
pub mod vault;
pub(crate) mod visible;
pub(crate) mod webhook_secrets;
