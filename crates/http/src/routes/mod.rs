//! The resources: for each the rows of its routes, the handlers that they name, each of which names a use case, and what
//! the document says of it: the schemas of its bodies and answers with an example of each, its enumerations, its events.

pub(crate) mod assignments;
pub(crate) mod attributes;
pub(crate) mod connectors;
pub(crate) mod conversations;
pub(crate) mod departments;
pub(crate) mod document;
pub(crate) mod employees;
pub(crate) mod events;
pub(crate) mod invitations;
pub(crate) mod keys;
pub(crate) mod notifications;
pub(crate) mod objectives;
pub(crate) mod observations;
pub(crate) mod organization;
pub(crate) mod search;
pub(crate) mod summaries;
pub(crate) mod webhooks;
