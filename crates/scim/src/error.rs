//! Errors of SCIM requests, in the form of RFC 7644 §3.12.

use std::fmt;

use candor_forms::problem::ValidationErrors;
use serde_json::json;

/// Schema of an error body.
pub const ERROR_SCHEMA: &str = "urn:ietf:params:scim:api:messages:2.0:Error";

/// Value of `scimType`, which tells the client the kind of a 400 or 409.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScimErrorType {
    /// The filter is malformed or has an unsupported operator or attribute.
    InvalidFilter,
    /// The cursor is malformed or belongs to another list.
    InvalidCursor,
    /// The body is not of the form that the operation requires.
    InvalidSyntax,
    /// The path of a PATCH operation is malformed.
    InvalidPath,
    /// A value has the wrong type or format, or a required value is missing.
    InvalidValue,
    /// The attribute is read-only or required.
    Mutability,
    /// The PATCH operation requires a path and has none.
    NoTarget,
    /// Another resource has the unique value already.
    Uniqueness,
}

impl ScimErrorType {
    /// Every type, for tests and documentation.
    pub const ALL: [Self; 8] = [
        Self::InvalidFilter,
        Self::InvalidCursor,
        Self::InvalidSyntax,
        Self::InvalidPath,
        Self::InvalidValue,
        Self::Mutability,
        Self::NoTarget,
        Self::Uniqueness,
    ];

    /// Returns the value of `scimType`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::InvalidFilter => "invalidFilter",
            Self::InvalidCursor => "invalidCursor",
            Self::InvalidSyntax => "invalidSyntax",
            Self::InvalidPath => "invalidPath",
            Self::InvalidValue => "invalidValue",
            Self::Mutability => "mutability",
            Self::NoTarget => "noTarget",
            Self::Uniqueness => "uniqueness",
        }
    }

    /// Returns the HTTP status of the error.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::Uniqueness => 409,
            Self::InvalidFilter
            | Self::InvalidCursor
            | Self::InvalidSyntax
            | Self::InvalidPath
            | Self::InvalidValue
            | Self::Mutability
            | Self::NoTarget => 400,
        }
    }
}

/// The refusal of a SCIM request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScimError {
    /// HTTP status of the response.
    pub status: u16,
    /// Value of `scimType`; `None` for statuses without one.
    pub kind: Option<ScimErrorType>,
    /// Message for people: the problem, then the correction.
    pub detail: String,
    /// Seconds until the request may be repeated.
    pub retry_after: Option<u32>,
}

impl ScimError {
    /// Creates an error with a `scimType`, which determines the status.
    #[must_use]
    pub fn new(kind: ScimErrorType, detail: impl Into<String>) -> Self {
        Self { status: kind.status(), kind: Some(kind), detail: detail.into(), retry_after: None }
    }

    /// Creates an error without a `scimType`.
    #[must_use]
    pub fn with_status(status: u16, detail: impl Into<String>) -> Self {
        Self { status, kind: None, detail: detail.into(), retry_after: None }
    }

    /// Creates the error of a user that does not exist or is invisible to the connector.
    #[must_use]
    pub fn not_found() -> Self {
        Self::with_status(404, "No user with this id exists for this connector.")
    }

    /// Creates the error of an invalid value (`invalidValue`).
    #[must_use]
    pub fn value(detail: impl Into<String>) -> Self {
        Self::new(ScimErrorType::InvalidValue, detail)
    }

    /// Creates the error of a body that has another form than the operation requires (`invalidSyntax`).
    #[must_use]
    pub fn syntax(detail: impl Into<String>) -> Self {
        Self::new(ScimErrorType::InvalidSyntax, detail)
    }

    /// Creates the error of values that the rules of an employee refuse. The detail names SCIM attributes.
    #[must_use]
    pub fn from_problems(problems: &ValidationErrors) -> Self {
        let attribute = |field: &str| match field {
            "email" => "emails.value".to_owned(),
            "external_id" => "externalId".to_owned(),
            "first_name" => "name.givenName".to_owned(),
            "last_name" => "name.familyName".to_owned(),
            "job_title" => "title".to_owned(),
            other => other.to_owned(),
        };
        let texts = problems.as_slice().iter().map(|problem| {
            let name = attribute(&problem.field);
            format!("{name} {}", problem.message)
        });
        Self::value(format!("{}.", texts.collect::<Vec<_>>().join("; ")))
    }

    /// Returns the body of the response.
    #[must_use]
    pub fn body(&self) -> serde_json::Value {
        let status = self.status.to_string();
        let mut body = json!({"schemas": [ERROR_SCHEMA], "status": status, "detail": self.detail});
        if let (Some(kind), Some(members)) = (self.kind, body.as_object_mut()) {
            members.insert("scimType".to_owned(), json!(kind.word()));
        }
        body
    }
}

impl fmt::Display for ScimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for ScimError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_body_has_the_status_as_text() {
        let error = ScimError::new(ScimErrorType::Uniqueness, "taken");
        let expected_body =
            json!({"schemas": [ERROR_SCHEMA], "status": "409", "scimType": "uniqueness", "detail": "taken"});
        assert_eq!(error.body(), expected_body);
        let missing = ScimError::not_found().body();
        assert_eq!((missing.get("scimType"), &missing["status"]), (None, &json!("404")));
    }
}
