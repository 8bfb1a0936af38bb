//! Reads of the storage port other than lists, each with its own SQL statement. Module [listing](crate::listing)
//! has the lists.

pub(crate) mod erasing;
mod everyone;
mod feed;
mod history;
mod log_figures;
mod people;
mod provisioning;
mod redelivery;
mod request_counts;
mod rows;
mod test_data;
pub(crate) mod upkeep;
mod webhooks;
