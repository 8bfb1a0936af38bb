//! The reads of the port that are shaped by a need.

mod again;
mod everyone;
mod feed;
mod people;
mod trail;
pub(crate) mod upkeep;
mod webhooks;

pub(crate) use people::present_statuses;
