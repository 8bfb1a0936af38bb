//! SCIM 2.0 inbound: identity providers create, change and deactivate people (RFC 7643, RFC 7644, RFC 9865).
//!
//! The crate `candor-scim` reads the dialects of the identity providers into one form, a [`UserDocument`]. [`ScimUser`]
//! has the values of an employee that a document states, and [`ProvisioningInput`] decides the change of one person.
//! [`StoredUser`] is the document of a stored person, to which a list of [`PatchOperation`]s applies.

pub mod connector;
mod mapping;
mod matching;
mod pending;
mod provision;
mod removal;
mod selection;
mod targets;
mod view;

// The types of the language that the functions below take and return, so that an embedder needs one crate.
pub use candor_scim::{CustomMapping, PatchOperation, ScimError, ScimErrorType, UserDocument};

pub use connector::Connector;
pub use mapping::{MAX_EXTRA_BYTES, ManagerReference, ScimUser};
pub use matching::{Candidates, IdentifierHolders, ProvisioningError, UserIdentity, admit_match, is_visible};
pub use pending::{ResolvedManager, resolve_manager};
pub use provision::{ProvisionedUser, ProvisioningInput, WriteKind};
pub use removal::{RemovedUser, remove};
pub use selection::selects;
pub use targets::{DepartmentTarget, ManagerTarget};
pub use view::{Meta, StoredUser};
