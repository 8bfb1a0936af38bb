//! The rules of Candor: resources, lifecycles, events and access, without I/O.
//!
//! Every item is a value or a function of values. Time, ids and stored data are arguments; the change to make is
//! returned as a [`Decision`](decision::Decision). The crate reads no clock, file, environment variable or random
//! source, so every rule can be tested and embedded without a database.
//!
//! # Getting started
//!
//! Every resource has a module with equal parts: `Draft` and `Patch` read the JSON body of a request, and a
//! function of the resource decides. The resulting [`Decision`](decision::Decision) carries the new state, the
//! events for webhooks, the audit entry and the notifications. Read [`objective`] and [`observation`] first.
//!
//! ```
//! use candor_domain::event::EventType;
//! use candor_domain::id::{EmployeeId, ObjectiveId};
//! use candor_domain::json::Object;
//! use candor_domain::objective::{Action, Draft, Family, Objective, References, StoredOwner, Status};
//! use candor_domain::organization::Review;
//! use candor_domain::people::Role;
//! use candor_domain::time::Timestamp;
//! use candor_domain::ulid::Ulid;
//!
//! let owner = EmployeeId::from_ulid(Ulid(1));
//! let body: Object = serde_json::from_str(&format!(
//!     r#"{{"owner_id": "{owner}", "title": "Answer within a day",
//!          "period_start": "2026-01-01", "period_end": "2026-03-31"}}"#
//! ))?;
//! let now: Timestamp = "2026-01-02T09:00:00Z".parse()?;
//!
//! let draft = Draft::parse(Family::Employees, body)?;
//! let owner = Some(StoredOwner { role: Role::Employee, in_reach: true });
//! let references = References { owner, ..References::default() };
//! let creation = Objective::create(ObjectiveId::from_ulid(Ulid(2)), draft, &references, now)?;
//! assert_eq!(creation.events, [EventType::ObjectiveCreated]);
//!
//! let approval = creation.state.apply(Action::Approve { comment: None }, Review::Optional, now)?;
//! assert_eq!(approval.state.status, Status::Approved);
//!
//! // The lifecycle has no second approval.
//! let refusal = approval.state.apply(Action::Approve { comment: None }, Review::Optional, now).unwrap_err();
//! assert_eq!(refusal.to_string(), "`approve` is not possible while `status` is \"approved\".");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | task | start at |
//! |---|---|
//! | read a body and report every wrong field | [`fields::Fields`], [`problem::ValidationErrors`] |
//! | decide a change | the `create`, `update` and action functions of a resource, such as [`objective::Objective::apply`] |
//! | see why a change is refused | [`refusal::DomainError`] |
//! | check the signature of a webhook | [`signature::verify`] |
//! | read the parameters of a list | [`params::Params`], [`page`] |
//!
//! The folder `examples` of this crate has complete programs: `objective_lifecycle` and `verify_webhook`. The crate
//! `candor-people-csv` plans the upload of a CSV file with these rules.
//!
//! `§…` and "decision …" in the descriptions are sections of the contract, the folder `docs/contract` of the project.

// The types of bodies and parameters, so that an embedder needs one crate.
pub use candor_forms::{
    counts, decimal, fields, id, json, page, params, problem, receiver_url, rule, schema, secret, signature,
    spelling, text, time, window,
};
pub use ulid;

pub(crate) use candor_forms::content;

pub mod access;
pub mod assignment;
pub mod attempt_failure;
pub mod audit;
pub mod catalog;
pub mod conversation;
pub mod decision;
pub mod erasure;
pub mod event;
pub mod export;
pub mod external_id;
pub mod idempotency;
pub mod keyed;
pub mod notification;
pub mod objective;
pub mod observation;
pub mod organization;
pub mod people;
pub mod refusal;
pub mod request_stats;
pub mod retention;
pub mod search;
pub mod summary;
pub mod update;
pub mod visibility;
