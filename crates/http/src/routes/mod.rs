//! The handlers: each names a use case.

pub(crate) mod assignments;
pub(crate) mod attributes;
pub(crate) mod conversations;
pub(crate) mod departments;
pub(crate) mod employees;
pub(crate) mod events;
pub(crate) mod keys;
pub(crate) mod notifications;
pub(crate) mod objectives;
pub(crate) mod observations;
pub(crate) mod search;
pub(crate) mod settings;
pub(crate) mod summaries;
pub(crate) mod webhooks;
