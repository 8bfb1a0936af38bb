//! Calls of the storage port, each with a few statements on one of the store's threads.

mod erasing;
mod everyone;
mod feed;
mod history;
mod log_figures;
mod people;
mod provisioning;
pub(crate) mod redelivery;
mod request_counts;
mod rows;
mod storage;
pub(crate) mod upkeep;
pub(crate) mod webhooks;
