//! The parsed body of a request, with the values that are computed from the whole body.

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use candor_domain::fields::Fields;
use candor_domain::idempotency::Fingerprint;
use candor_domain::json::{Object, Value};
use candor_domain::problem::ValidationErrors;

use crate::contract::framing;
use crate::contract::route::Body;
use crate::response::error_response::ErrorResponse;

/// Method, path and query of a request, which its fingerprint covers.
pub(crate) struct Target {
    method: String,
    path: String,
    query: String,
}

impl Target {
    /// Returns the target of a request.
    pub(crate) fn from_request(request: &HttpRequest) -> Self {
        Self {
            method: request.method().to_string(),
            path: request.path().to_owned(),
            query: request.query_string().to_owned(),
        }
    }

    /// Returns the fingerprint of the request with this body.
    pub(crate) fn fingerprint(&self, body: Option<&Value>) -> Fingerprint {
        Fingerprint::from_json(&self.method, &self.path, &self.query, body)
    }
}

/// The parsed body of a request.
pub(crate) struct ParsedBody {
    /// Members of the JSON object; empty without a JSON body.
    pub(crate) members: Object,
    /// Fingerprint of the request; `None` without a target.
    pub(crate) fingerprint: Option<Fingerprint>,
    /// Problems with members that the route does not accept.
    pub(crate) unexpected: Option<ValidationErrors>,
}

impl ParsedBody {
    /// Parses a JSON body, and computes the fingerprint of the request, also for a CSV file.
    pub(crate) fn read(
        json: &[u8],
        csv: &[u8],
        form: Body,
        target: Option<&Target>,
    ) -> Result<Self, ErrorResponse> {
        let body = if json.is_empty() { None } else { Some(framing::json(json)?) };
        let fingerprint = target.map(|target| match form {
            Body::Csv => Fingerprint::from_body(&target.method, &target.path, &target.query, csv),
            Body::None | Body::Optional(_) | Body::Required(_) => target.fingerprint(body.as_ref()),
        });
        let members = members(body)?;
        let body_problems =
            if form == Body::None { Fields::new(members.clone()).finish(Some(())).err() } else { None };
        Ok(Self { members, fingerprint, unexpected: body_problems })
    }
}

fn members(body: Option<Value>) -> Result<Object, ErrorResponse> {
    match body {
        None => Ok(Object::new()),
        Some(Value::Object(members)) => Ok(members),
        Some(other) => {
            let message = format!("The body must be a JSON object, not {}.", other.kind());
            Err(ErrorResponse::malformed_as(StatusCode::BAD_REQUEST, message))
        }
    }
}
