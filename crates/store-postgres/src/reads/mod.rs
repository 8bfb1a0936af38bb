//! The reads of the port that are shaped by a need.

mod everyone;
mod feed;
mod history;
mod people;
mod redelivery;
mod test_data;
pub(crate) mod upkeep;
mod webhooks;

pub(crate) use people::present_statuses;
