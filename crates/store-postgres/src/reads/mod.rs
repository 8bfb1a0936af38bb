//! The reads of the port that are shaped by a need.

mod everyone;
mod feed;
mod history;
mod people;
mod redelivery;
mod rows;
mod test_data;
pub(crate) mod upkeep;
mod webhooks;
