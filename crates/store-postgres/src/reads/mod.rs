//! The typed reads of the port.

mod again;
mod feed;
mod keys;
mod library;
mod objectives;
mod people;
mod trail;
pub(crate) mod upkeep;
mod webhooks;

pub(crate) use people::present_statuses;
