//! The typed reads of the port.

mod again;
mod keys;
mod library;
mod objectives;
mod people;
mod trail;
mod webhooks;

pub(crate) use people::present_statuses;
