//! The port's calls, each a few statements on one of the store's threads.

pub(crate) mod again;
mod everyone;
mod feed;
mod people;
mod rows;
mod storage;
mod trail;
pub(crate) mod upkeep;
pub(crate) mod webhooks;
