//! The typed reads of the port.

mod keys;
mod library;
mod objectives;
mod people;
mod trail;

pub(crate) use people::present_statuses;
