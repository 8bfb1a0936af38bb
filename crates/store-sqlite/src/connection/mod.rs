//! Threads and connections of a store, and the queues between them.

pub(crate) mod checkpoint;
pub(crate) mod files;
pub(crate) mod lookups;
pub(crate) mod open;
pub(crate) mod planner_settings;
pub(crate) mod readers;
pub(crate) mod tasks;
pub(crate) mod writer;
