//! The resources: the rows of each, and the handlers that they name, each of which names a use case.

pub(crate) mod assignments;
pub(crate) mod attributes;
pub(crate) mod connectors;
pub(crate) mod conversations;
pub(crate) mod departments;
pub(crate) mod employees;
pub(crate) mod events;
pub(crate) mod keys;
pub(crate) mod notifications;
pub(crate) mod objectives;
pub(crate) mod observations;
pub(crate) mod organization;
pub(crate) mod search;
pub(crate) mod summaries;
pub(crate) mod webhooks;
