//! Error responses: status, stable code, message and details (§7).

use std::borrow::Cow;

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderValue;
use bytes::Bytes;
use candor_domain::access::{Permission, PermissionError};
use candor_domain::fields::StringEnum;
use candor_domain::id::RequestId;
use candor_domain::problem::{Code, FieldError, ValidationErrors, ValueError};
use candor_domain::refusal::DomainError;
use candor_domain::window::{RateLimitStatus, WINDOW_SECONDS};
use candor_scim::{ScimError, ScimErrorType};
use candor_service::Error;
use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use strum::{IntoStaticStr, VariantArray};

/// The stable error codes (§7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum ErrorCode {
    /// A field or query parameter is invalid.
    ValidationError,
    /// The request is malformed.
    BadRequest,
    /// The API key or bearer token is missing or invalid.
    AuthenticationRequired,
    /// The API key lacks a permission.
    PermissionDenied,
    /// The route or the resource does not exist.
    NotFound,
    /// The state of the resource does not allow the request.
    Conflict,
    /// The idempotency key was used for another request.
    IdempotencyConflict,
    /// A referenced resource does not exist or is not in a valid state.
    Unprocessable,
    /// A quota is used up.
    RateLimited,
    /// A defect of the service.
    ServerError,
    /// A dependency of the service failed. The contract lists it (§7); the service does not send it.
    UpstreamError,
    /// The service is temporarily unavailable.
    Unavailable,
    /// The request or its processing took too long.
    Timeout,
}

impl StringEnum for ErrorCode {
    const NAME: &'static str = "ErrorCode";
}

/// An error response before it is serialized.
#[derive(Debug)]
pub(crate) struct ErrorResponse {
    pub(crate) status: StatusCode,
    pub(crate) code: ErrorCode,
    pub(crate) message: Cow<'static, str>,
    pub(crate) details: Option<Box<RawValue>>,
    pub(crate) retry_after_seconds: Option<i64>,
    pub(crate) allow: Option<HeaderValue>,
    /// Kind of the error in the form of SCIM.
    scim_type: Option<ScimErrorType>,
    /// Cause for the log. Clients never see it.
    pub(crate) cause: Option<Box<str>>,
}

/// `Retry-After` of a response from a busy service.
const BUSY_SECONDS: i64 = 1;
/// `Retry-After` of an aborted slow read: the deadline of slow reads.
const SLOW_SECONDS: i64 = 2;
/// `Retry-After` of a client with unread responses: the time that a slow client needs for a large page.
const UNREAD_SECONDS: i64 = 2;
/// `Retry-After` while the search index is built. Indexing a large tenant takes minutes.
const INDEXING_SECONDS: i64 = 30;
/// `Retry-After` while too many exports are running. An export of 100,000 rows takes some seconds.
const EXPORTING_SECONDS: i64 = 5;

/// Field of the last entry of the details, which has the number of omitted problems. No request has a field of this
/// name.
const UNLISTED: &str = "details";

impl ErrorResponse {
    fn new(status: StatusCode, code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            details: None,
            retry_after_seconds: None,
            allow: None,
            scim_type: None,
            cause: None,
        }
    }

    fn with(self, details: impl Serialize) -> Self {
        Self { details: to_raw_value(&details).ok(), ..self }
    }

    /// Adds the collected problems as details, and an entry with the number of problems that are not listed.
    fn with_problems(self, problems: &ValidationErrors) -> Self {
        let rest = problems.unlisted_count();
        if rest == 0 {
            return self.with(problems);
        }
        let message =
            format!("{rest} more problems are not listed; correct the listed ones, then send the request again");
        let remaining_problem = ValueError::new(Code::LimitReached, message).in_field(UNLISTED);
        let entries: Vec<&FieldError> = problems.as_slice().iter().chain([&remaining_problem]).collect();
        self.with(entries)
    }

    /// Creates the 404 for unknown resources, and for resources of other organizations (decision A2).
    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, ErrorCode::NotFound, "Not found.")
    }

    /// Creates the 404 for a path that the API does not have, with the path that the client probably means.
    pub(crate) fn no_such_path(probably: Option<String>) -> Self {
        let hint = probably.map(|path| format!("; it is probably {path}")).unwrap_or_default();
        let message = format!(
            "Not found: the API has no such path{hint}. See /docs for its paths, which begin with /v1 or /scim/v2."
        );
        Self::new(StatusCode::NOT_FOUND, ErrorCode::NotFound, message)
    }

    /// Creates the 405 for a method that the route does not support.
    pub(crate) fn wrong_method(allow: &HeaderValue) -> Self {
        let message = "The method is not allowed for this URL. Use a method from the Allow header.";
        let error = Self::new(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::BadRequest, message);
        Self { allow: Some(allow.clone()), ..error }
    }

    /// Creates the 401 for a request without a valid API key or token.
    pub(crate) fn no_good_key() -> Self {
        let message = "The API key is missing or invalid. Send a valid key: Authorization: Bearer <API key>.";
        Self::new(StatusCode::UNAUTHORIZED, ErrorCode::AuthenticationRequired, message)
    }

    /// Creates the 429 for an exhausted quota.
    pub(crate) fn too_many(quota: &str, rate_limit: &RateLimitStatus) -> Self {
        let message = "The quota is used up. Retry after the time in the Retry-After header.";
        let error = Self::new(StatusCode::TOO_MANY_REQUESTS, ErrorCode::RateLimited, message);
        let used_up = UsedUp { quota, limit: rate_limit.limit, window_seconds: WINDOW_SECONDS };
        Self { retry_after_seconds: Some(rate_limit.retry_after_seconds), ..error.with([used_up]) }
    }

    /// Creates the 400 for a malformed request.
    pub(crate) fn malformed_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::BadRequest, message)
    }

    /// Creates the response for a malformed request with its own status, such as 413 or 415.
    pub(crate) fn malformed_as(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(status, ErrorCode::BadRequest, message)
    }

    /// Creates the 408 for a request whose head did not arrive in time.
    pub(crate) fn late_head() -> Self {
        let message = "The request line and the headers did not arrive in time.";
        Self::new(StatusCode::REQUEST_TIMEOUT, ErrorCode::Timeout, message)
    }

    /// Creates the 408 for a request whose body did not arrive in time.
    pub(crate) fn late_body() -> Self {
        let message = "The body did not arrive in time.";
        Self::new(StatusCode::REQUEST_TIMEOUT, ErrorCode::Timeout, message)
    }

    /// Creates the 504 for a request whose processing took too long. Its changes may have been committed.
    pub(crate) fn out_of_time() -> Self {
        let message = "Processing took too long. A retry of an idempotent request is safe.";
        Self::new(StatusCode::GATEWAY_TIMEOUT, ErrorCode::Timeout, message)
    }

    /// Creates a 503. `cause` is for the log.
    pub(crate) fn unavailable(message: &'static str, cause: Option<String>) -> Self {
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Unavailable, message);
        Self { retry_after_seconds: Some(BUSY_SECONDS), cause: cause.map(String::into_boxed_str), ..error }
    }

    /// Creates the 503 for a client that does not read its earlier responses.
    pub(crate) fn unread_responses() -> Self {
        let message = "The client has not read earlier responses to this API key. Read them or close their \
                       connections, then retry.";
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Unavailable, message);
        Self { retry_after_seconds: Some(UNREAD_SECONDS), ..error }
    }

    /// Creates the 503 for a large body while too many large bodies are incomplete or wait for their turn.
    pub(crate) fn unfinished_bodies() -> Self {
        let message = "Earlier requests with this API key, or of its organization, have large bodies that are not \
                       complete or wait for their turn. Finish them or close their connections, then retry.";
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Unavailable, message);
        Self { retry_after_seconds: Some(UNREAD_SECONDS), ..error }
    }

    /// Creates the 503 for a large response while too many large responses of the organization wait to be written.
    fn too_many_large_reads() -> Self {
        let message = "Many large responses of this organization wait for their turn. Read fewer of them at once, or \
                       smaller pages, then retry.";
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Unavailable, message);
        Self { retry_after_seconds: Some(UNREAD_SECONDS), ..error }
    }

    /// Creates the 503 for an export while as many as permitted are running.
    fn too_many_exports() -> Self {
        let message = "Too many exports are running. Retry later.";
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Unavailable, message);
        Self { retry_after_seconds: Some(EXPORTING_SECONDS), ..error }
    }

    /// Creates the 503 for an aborted slow read. The message names the filter to narrow.
    fn too_wide(message: String) -> Self {
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Unavailable, message);
        Self { retry_after_seconds: Some(SLOW_SECONDS), ..error }
    }

    /// Creates the 500. `cause` is for the log.
    pub(crate) fn defect(cause: String) -> Self {
        let message = "Internal error. A retry with backoff is safe.";
        let error = Self::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::ServerError, message);
        Self { cause: Some(cause.into_boxed_str()), ..error }
    }

    /// Returns whether a retry of the same request can succeed (§7), or `None` if the status is sufficient.
    pub(crate) fn should_retry(&self) -> Option<bool> {
        let can_succeed = self.retry_after_seconds.is_some() || self.status == StatusCode::REQUEST_TIMEOUT;
        (can_succeed || self.status.is_client_error()).then_some(can_succeed)
    }

    /// Serializes the body of an error response (§7).
    pub(crate) fn envelope(&self, request: RequestId) -> Bytes {
        let code = self.code.word();
        let error =
            Envelope { code, message: &self.message, details: self.details.as_deref(), request_id: request };
        Bytes::from(serde_json::to_vec(&Body { error }).unwrap_or_default())
    }

    /// Returns the error in the form of SCIM.
    pub(crate) fn to_scim(&self) -> ScimError {
        let default_kind = (self.status == StatusCode::BAD_REQUEST).then_some(ScimErrorType::InvalidSyntax);
        let error = ScimError::with_status(self.status.as_u16(), self.message.clone());
        ScimError { kind: self.scim_type.or(default_kind), ..error }
    }
}

/// Single entry in the details of `rate_limited` (§7).
#[derive(Serialize)]
struct UsedUp<'a> {
    quota: &'a str,
    limit: u32,
    window_seconds: u32,
}

#[derive(Serialize)]
struct Body<'a> {
    error: Envelope<'a>,
}

#[derive(Serialize)]
struct Envelope<'a> {
    code: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a RawValue>,
    request_id: RequestId,
}

impl From<PermissionError> for ErrorResponse {
    fn from(denied: PermissionError) -> Self {
        let error = Self::new(StatusCode::FORBIDDEN, ErrorCode::PermissionDenied, denied.message());
        match denied {
            PermissionError::MissingScope(scope) => error.with(json!([{"required_scope": scope.word()}])),
            PermissionError::AdminRequired
            | PermissionError::AdminKeyRequired
            | PermissionError::OrganizationKeyRequired
            | PermissionError::ActsForPerson => error.with(json!([{"required_access_level": "admin"}])),
            PermissionError::NoConnectorKey => error.with(json!([{"required_scope": Permission::Scim.word()}])),
            PermissionError::TestKey => error.with(json!([{"key_environment": "test"}])),
            PermissionError::LiveKey => error.with(json!([{"key_environment": "live"}])),
            PermissionError::ConnectorKey
            | PermissionError::CannotGrant
            | PermissionError::OwnerNotAdmin
            | PermissionError::OtherPerson
            | PermissionError::AuthorOnly
            | PermissionError::NotBelow
            | PermissionError::OwnReview
            | PermissionError::OwnText
            | PermissionError::AboutOneself
            | PermissionError::NotTheSubject
            | PermissionError::OnlyShared
            | PermissionError::NotTheRequester
            | PermissionError::NotAmongParticipants
            | PermissionError::RemovesOthers
            | PermissionError::RightsLost => error,
        }
    }
}

impl From<DomainError> for ErrorResponse {
    fn from(refusal: DomainError) -> Self {
        match refusal {
            DomainError::Invalid(problems) => {
                let message = "Some fields or parameters are invalid. See `details`.";
                Self::new(StatusCode::BAD_REQUEST, ErrorCode::ValidationError, message).with_problems(&problems)
            }
            DomainError::Unprocessable(problems) => {
                let message = "A referenced resource does not exist or is not in a valid state. See `details`.";
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::Unprocessable, message)
                    .with_problems(&problems)
            }
            DomainError::NotFound => Self::not_found(),
            DomainError::Denied(denied) => denied.into(),
            DomainError::Conflict(conflict) => {
                let seconds = conflict.retry_after.map(|retry_after| retry_after.seconds);
                let error =
                    Self::new(StatusCode::CONFLICT, ErrorCode::Conflict, conflict.message()).with([conflict]);
                Self { retry_after_seconds: seconds, ..error }
            }
        }
    }
}

impl From<ScimError> for ErrorResponse {
    fn from(error: ScimError) -> Self {
        let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let code = match error.status {
            404 => ErrorCode::NotFound,
            409 => ErrorCode::Conflict,
            500.. => ErrorCode::Unavailable,
            _ => ErrorCode::BadRequest,
        };
        let retry_after_seconds = error.retry_after.map(i64::from);
        Self { scim_type: error.kind, retry_after_seconds, ..Self::new(status, code, error.detail) }
    }
}

impl From<Error> for ErrorResponse {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(refusal) => refusal.into(),
            Error::ScimRefused(refusal) => refusal.error.into(),
            Error::Malformed(message) => Self::malformed_request(message),
            Error::PreconditionFailed => {
                let message = "The resource has changed: its version is not in If-Match. Read the resource \
                               again, then retry.";
                Self::new(StatusCode::PRECONDITION_FAILED, ErrorCode::Conflict, message)
            }
            Error::KeyReused(key) => {
                let message = "The idempotency key was already used for another request or by another API key. \
                               Send a new key.";
                let details = json!([{"idempotency_key": key.as_str()}]);
                Self::new(StatusCode::CONFLICT, ErrorCode::IdempotencyConflict, message).with(details)
            }
            Error::Contended => {
                Self::unavailable("Too many concurrent changes to this resource. Retry the request.", None)
            }
            Error::Unavailable(cause) => {
                Self::unavailable("The service is temporarily unavailable. Retry the request.", Some(cause))
            }
            Error::TooSlow(message) => Self::too_wide(message),
            Error::TooManyLargeReads => Self::too_many_large_reads(),
            Error::TooManyExports => Self::too_many_exports(),
            Error::NotIndexed => {
                let message = "The search index is still being built. Retry later.";
                Self { retry_after_seconds: Some(INDEXING_SECONDS), ..Self::unavailable(message, None) }
            }
            Error::Bug(cause) => Self::defect(cause),
        }
    }
}
