//! SCIM 2.0 inbound: identity providers create, change and deactivate people (RFC 7643, RFC 7644, RFC 9865).
//!
//! The module reads the dialects of the identity providers into one form, a [`UserDocument`]. A creation and a
//! replacement are a document; a PATCH is a list of [`PatchOperation`]s that change a stored document.
//! [`ScimUser`] has the values of an employee that a document states. Attributes that Candor does not model are kept
//! and returned as sent.

mod conditions;
mod cursor;
mod custom_mapping;
mod document;
mod error;
pub mod filter;
mod list;
mod mapping;
mod matching;
mod operations;
mod path;
mod pending;
mod projection;
mod provision;
mod removal;
mod schemas;
mod selection;
mod targets;
mod view;

pub use cursor::UserCursor;
pub use custom_mapping::CustomMapping;
pub use document::UserDocument;
pub use error::{ERROR_SCHEMA, ScimError, ScimErrorType};
pub use list::{UserListRequest, UserListStart};
pub use mapping::{MAX_EXTRA_BYTES, ManagerReference, ScimUser};
pub use matching::{Candidates, IdentifierHolders, Refused, UserIdentity, admit_match, is_visible};
pub use operations::{MAX_OPERATIONS, PatchOperation, PatchVerb};
pub use path::{MAX_PATH_BYTES, ScimPath, ScimSchema};
pub use pending::{ResolvedManager, resolve_manager};
pub use projection::Projection;
pub use provision::{ProvisionedUser, ProvisioningInput, WriteKind};
pub use removal::{RemovedUser, remove};
pub use schemas::{
    CORE, DEFAULT_PAGE, ENTERPRISE, LIST_SCHEMA, MAX_PAGE, list, resource_types, schemas, service_provider_config,
};
pub use selection::selects;
pub use targets::{DepartmentTarget, ManagerTarget};
pub use view::{Meta, StoredUser};
