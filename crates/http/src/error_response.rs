//! Why a request is not answered with a success: status, stable code, message and details (§7).

use std::borrow::Cow;

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderValue;
use bytes::Bytes;
use candor_domain::access::Denied;
use candor_domain::fields::Word;
use candor_domain::id::RequestId;
use candor_domain::problem::{Code, Flaw, Problem, Problems};
use candor_domain::refusal::Refusal;
use candor_domain::window::{RateLimitStatus, WINDOW_SECONDS};
use candor_service::Error;
use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use strum::{IntoStaticStr, VariantArray};

/// The stable codes (§7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum ErrorCode {
    /// A field or query parameter is wrong.
    ValidationError,
    /// The request is malformed.
    BadRequest,
    /// There is no good key.
    AuthenticationRequired,
    /// The key may not do this.
    PermissionDenied,
    /// There is no such thing.
    NotFound,
    /// The state of things is against it.
    Conflict,
    /// The idempotency key was used for another request.
    IdempotencyConflict,
    /// What the body refers to does not hold.
    Unprocessable,
    /// Too many requests.
    RateLimited,
    /// A defect.
    ServerError,
    /// Something that the service relies on failed; listed because the contract has it (§7).
    UpstreamError,
    /// Not available now.
    Unavailable,
    /// It took too long.
    Timeout,
}

impl Word for ErrorCode {
    const NAME: &'static str = "ErrorCode";
}

/// Everything that an answer without success says.
#[derive(Debug)]
pub(crate) struct ErrorResponse {
    pub(crate) status: StatusCode,
    pub(crate) code: ErrorCode,
    pub(crate) message: Cow<'static, str>,
    pub(crate) details: Option<Box<RawValue>>,
    pub(crate) retry_after_seconds: Option<i64>,
    pub(crate) allow: Option<HeaderValue>,
    /// For the log; never for the client.
    pub(crate) cause: Option<Box<str>>,
}

/// What a client may wait before it asks again when the service was busy.
const BUSY_SECONDS: i64 = 1;
/// The same for a list that no index answers: as long as one that came first may take.
const SLOW_SECONDS: i64 = 2;
/// Time in which a client on a slow line reads a large page.
const UNREAD_SECONDS: i64 = 2;
/// Indexing everything of a large tenant takes minutes.
const INDEXING_SECONDS: i64 = 30;

/// Problems that one answer lists at most: a request of 256 KiB can have 100,000, which take twelve times its bytes.
const MAX_PROBLEMS: usize = 100;
/// Field of the entry behind the listed problems. It is no name that a request has.
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
            cause: None,
        }
    }

    fn with(self, details: impl Serialize) -> Self {
        Self { details: to_raw_value(&details).ok(), ..self }
    }

    /// Adds the first [`MAX_PROBLEMS`] problems as details, and an entry with the number of the rest.
    fn with_problems(self, problems: &Problems) -> Self {
        let problems = problems.as_slice();
        let Some((listed, rest)) = problems.split_at_checked(MAX_PROBLEMS).filter(|(_, rest)| !rest.is_empty()) else {
            return self.with(problems);
        };
        let message =
            format!("{} more problems are not listed; correct these, then send the request again", rest.len());
        let unlisted = Flaw::new(Code::LimitReached, message).at(UNLISTED);
        let entries: Vec<&Problem> = listed.iter().chain([&unlisted]).collect();
        self.with(entries)
    }

    /// There is nothing, or nothing of the caller's organization, which looks the same (decision A2).
    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, ErrorCode::NotFound, "There is nothing at this address.")
    }

    /// The path does not take the method.
    pub(crate) fn wrong_method(allow: &HeaderValue) -> Self {
        let message = "This address does not take this method; the header Allow names those that it takes.";
        let error = Self::new(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::BadRequest, message);
        Self { allow: Some(allow.clone()), ..error }
    }

    /// The key is missing, malformed, unknown, expired or revoked.
    pub(crate) fn no_good_key() -> Self {
        let message = "A valid API key is needed: Authorization: Bearer <API key>.";
        Self::new(StatusCode::UNAUTHORIZED, ErrorCode::AuthenticationRequired, message)
    }

    /// A quota is used up.
    pub(crate) fn too_many(quota: &str, rate_limit: &RateLimitStatus) -> Self {
        let message = "Too many requests; the header Retry-After says when to go on.";
        let error = Self::new(StatusCode::TOO_MANY_REQUESTS, ErrorCode::RateLimited, message);
        let used_up = UsedUp { quota, limit: rate_limit.limit, window_seconds: WINDOW_SECONDS };
        Self { retry_after_seconds: Some(rate_limit.retry_after_seconds), ..error.with([used_up]) }
    }

    /// The request is malformed.
    pub(crate) fn malformed(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::BadRequest, message)
    }

    /// The request is malformed in a way that has a status of its own.
    pub(crate) fn malformed_as(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(status, ErrorCode::BadRequest, message)
    }

    /// The client took too long to send its request.
    pub(crate) fn slow_client() -> Self {
        let message = "The body did not arrive in time.";
        Self::new(StatusCode::REQUEST_TIMEOUT, ErrorCode::Timeout, message)
    }

    /// The service took too long. What the request asked for may have been done all the same.
    pub(crate) fn too_slow() -> Self {
        let message = "Processing took too long; it is safe to retry idempotent requests.";
        Self::new(StatusCode::GATEWAY_TIMEOUT, ErrorCode::Timeout, message)
    }

    /// Not available now; `cause` is for the log.
    pub(crate) fn unavailable(message: &'static str, cause: Option<String>) -> Self {
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Unavailable, message);
        Self { retry_after_seconds: Some(BUSY_SECONDS), cause: cause.map(String::into_boxed_str), ..error }
    }

    /// Earlier answers to the same caller are not sent yet, because the client does not read them.
    pub(crate) fn unread_answers() -> Self {
        let message =
            "Earlier answers to this API key have not been read. Read them or close their connections, then retry.";
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Unavailable, message);
        Self { retry_after_seconds: Some(UNREAD_SECONDS), ..error }
    }

    /// A list was given up; the message says what to narrow.
    fn given_up(message: String) -> Self {
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Unavailable, message);
        Self { retry_after_seconds: Some(SLOW_SECONDS), ..error }
    }

    /// A defect; `cause` is for the log.
    pub(crate) fn defect(cause: String) -> Self {
        let message = "Something went wrong here; it is safe to retry with backoff.";
        let error = Self::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::ServerError, message);
        Self { cause: Some(cause.into_boxed_str()), ..error }
    }

    /// Whether a retry of the same request can succeed (§7); `None` where the status alone tells clients.
    pub(crate) fn should_retry(&self) -> Option<bool> {
        let can_succeed = self.retry_after_seconds.is_some() || self.status == StatusCode::REQUEST_TIMEOUT;
        (can_succeed || self.status.is_client_error()).then_some(can_succeed)
    }

    /// The body that every answer without success has (§7).
    pub(crate) fn envelope(&self, request: RequestId) -> Bytes {
        let code = self.code.word();
        let error = Envelope { code, message: &self.message, details: self.details.as_deref(), request_id: request };
        Bytes::from(serde_json::to_vec(&Body { error }).unwrap_or_default())
    }
}

/// The one entry of the details of `rate_limited` (§7).
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

impl From<Denied> for ErrorResponse {
    fn from(denied: Denied) -> Self {
        let error = Self::new(StatusCode::FORBIDDEN, ErrorCode::PermissionDenied, denied.message());
        match denied {
            Denied::MissingScope(scope) => error.with(json!([{"required_scope": scope.word()}])),
            Denied::AdminRequired | Denied::AdminKeyRequired | Denied::ActsForPerson => {
                error.with(json!([{"required_access_level": "admin"}]))
            }
            Denied::TestKey => error.with(json!([{"key_environment": "test"}])),
            Denied::LiveKey => error.with(json!([{"key_environment": "live"}])),
            Denied::CannotGrant
            | Denied::OwnerNotAdmin
            | Denied::OtherPerson
            | Denied::AuthorOnly
            | Denied::NotBelow
            | Denied::OwnReview
            | Denied::AboutOneself
            | Denied::NotTheSubject
            | Denied::OnlyShared
            | Denied::NotTheRequester
            | Denied::NotAmongParticipants => error,
        }
    }
}

impl From<Refusal> for ErrorResponse {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Invalid(problems) => {
                let message = "The request has fields or parameters that are not valid.";
                Self::new(StatusCode::BAD_REQUEST, ErrorCode::ValidationError, message).with_problems(&problems)
            }
            Refusal::Unprocessable(problems) => {
                let message = "The request is well-formed, but what it refers to does not allow it.";
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::Unprocessable, message).with_problems(&problems)
            }
            Refusal::NotFound => Self::not_found(),
            Refusal::Denied(denied) => denied.into(),
            Refusal::Conflict(conflict) => {
                let seconds = conflict.retry_after.map(|retry_after| retry_after.seconds);
                let error = Self::new(StatusCode::CONFLICT, ErrorCode::Conflict, conflict.message()).with([conflict]);
                Self { retry_after_seconds: seconds, ..error }
            }
        }
    }
}

impl From<Error> for ErrorResponse {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(refusal) => refusal.into(),
            Error::Malformed(message) => Self::malformed(message),
            Error::PreconditionFailed => {
                let message = "The resource has changed: If-Match names another version.";
                Self::new(StatusCode::PRECONDITION_FAILED, ErrorCode::Conflict, message)
            }
            Error::KeyReused(key) => {
                let message = "The idempotency key was used for another request, or by another API key.";
                let details = json!([{"idempotency_key": key.as_str()}]);
                Self::new(StatusCode::CONFLICT, ErrorCode::IdempotencyConflict, message).with(details)
            }
            Error::Contended => Self::unavailable("Others keep changing the same thing; try again.", None),
            Error::Unavailable(cause) => {
                Self::unavailable("The service is temporarily unavailable; try again.", Some(cause))
            }
            Error::TooSlow(message) => Self::given_up(message),
            Error::NotIndexed => {
                let message =
                    "What was there before this version can be searched in a while: its words are being indexed.";
                Self { retry_after_seconds: Some(INDEXING_SECONDS), ..Self::unavailable(message, None) }
            }
            Error::Bug(cause) => Self::defect(cause),
        }
    }
}
