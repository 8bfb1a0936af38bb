//! The port's calls, each a few statements on one of the store's threads.

pub(crate) mod again;
mod feed;
mod keys;
mod library;
mod objectives;
mod observations;
mod people;
mod storage;
mod trail;
pub(crate) mod upkeep;
pub(crate) mod webhooks;
