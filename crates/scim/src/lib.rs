//! SCIM 2.0 as a language: what identity providers send about users, and what they get (RFC 7643, RFC 7644, RFC 9865).
//!
//! The crate reads the dialects of the identity providers into one form, a [`UserDocument`]. A creation and a
//! replacement are a document; a PATCH is a list of [`PatchOperation`]s that change a stored document. Attributes that
//! Candor does not model are kept and returned as sent.
//!
//! The crate knows no stored person. The module `scim` of `candor-domain` decides the change of a person by a document.
//!
//! ```
//! use candor_scim::{PatchOperation, ScimPath, UserDocument};
//!
//! let body = serde_json::from_str(r#"{"userName": "ada@example.com", "active": "True"}"#)?;
//! let document = UserDocument::from_body(body)?;
//! let patch = serde_json::from_str(r#"{"Operations": [{"op": "Replace", "path": "title", "value": "Engineer"}]}"#)?;
//! let changed_document = document.apply(&PatchOperation::parse_all(&patch)?)?;
//! assert!(changed_document.value_at(&ScimPath::parse("title")?).is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod conditions;
mod cursor;
mod custom_mapping;
mod document;
mod error;
pub mod filter;
mod list;
mod operations;
mod path;
mod projection;
mod schemas;

pub use cursor::UserCursor;
pub use custom_mapping::CustomMapping;
pub use document::{UserDocument, main_address, manager_text};
pub use error::{ERROR_SCHEMA, ScimError, ScimErrorType};
pub use list::{UserListRequest, UserListStart};
pub use operations::{MAX_OPERATIONS, PatchOperation, PatchVerb};
pub use path::{MAX_PATH_BYTES, ScimPath, ScimSchema};
pub use projection::Projection;
pub use schemas::{
    CORE, DEFAULT_PAGE, ENTERPRISE, LIST_SCHEMA, MAX_PAGE, list, resource_types, schemas, service_provider_config,
};
