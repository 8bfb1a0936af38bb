//! The use cases, one module for each resource.

pub mod assignments;
pub mod audit_log;
pub mod catalog;
pub mod connectors;
pub mod conversations;
pub mod copy;
pub mod employees;
pub mod erasure_ledger;
pub mod erasures;
pub mod events;
pub mod exports;
pub mod invitations;
pub mod keys;
pub mod line_stream;
pub mod notifications;
pub mod objectives;
pub mod observations;
pub mod operator;
pub mod organization;
pub mod portal_links;
pub mod request_stats;
pub mod scim;
pub mod search;
pub mod summaries;
pub mod test_data;
pub mod webhooks;
