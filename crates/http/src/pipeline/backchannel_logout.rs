//! `POST /v1/sign-in/backchannel-logout/{id}`: logout tokens that identity providers send (decision B11).
//!
//! Only identity providers use this path. Their request is a form that another specification defines (OpenID
//! Connect Back-Channel Logout 1.0), so the path is outside of the route table and of the API document.

use actix_web::http::header::{CACHE_CONTROL, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::web::Payload;
use candor_domain::id::IdentityProviderId;
use candor_domain::json::{Object, Value};
use candor_service::usecases::backchannel_logout::{self, LogoutResult};
use candor_tokens::token::MAX_TOKEN_BYTES;

use crate::contract::framing;
use crate::contract::route::BASE;
use crate::meters::{self, LOGOUT};
use crate::pages::invitation_page;
use crate::pipeline::api::Api;
use crate::pipeline::dispatch::take_payload;
use crate::pipeline::exchange::Exchange;
use crate::response::Response;
use crate::response::error_response::ErrorResponse;

/// Path below [`BASE`], without the id of the provider.
const PATH: &str = "/sign-in/backchannel-logout/";
/// Label of requests in metrics and in the log.
const PATTERN: &str = "/v1/sign-in/backchannel-logout/{id}";
/// Field of the form.
const FIELD: &str = "logout_token";
/// Maximum size of the form, in bytes: a token and other fields, which are ignored.
const MAX_FORM_BYTES: usize = 2 * MAX_TOKEN_BYTES;
/// Text of the answer to every token that is not valid. The cause is in the log.
const REFUSAL: &str = "The logout token is not valid for this identity provider.";

/// Returns the text of the id in the path of a logout, if the path is one.
pub(crate) fn provider(path: &str) -> Option<&str> {
    let id = path.strip_prefix(BASE)?.strip_prefix(PATH)?;
    (!id.contains('/')).then_some(id)
}

impl Api {
    /// Answers a logout. A token that is not valid counts as a failed authentication of the client's address. It is judged
    /// first: organizations share the addresses of their providers, and none may keep out the logouts of another one.
    pub(crate) async fn log_out(
        &self,
        exchange: &mut Exchange<'_>,
        provider: &str,
        payload: &mut Option<Payload>,
    ) -> Result<Response, ErrorResponse> {
        exchange.pattern = PATTERN;
        match *exchange.request.method() {
            Method::POST => {}
            Method::OPTIONS => return Ok(Response::options(&HeaderValue::from_static("OPTIONS, POST"))),
            _ => return Err(ErrorResponse::wrong_method(&HeaderValue::from_static("OPTIONS, POST"))),
        }
        let body = take_payload(payload)?;
        let body = framing::body(exchange.request, body, self.settings.body_time, MAX_FORM_BYTES).await?;
        let fields = invitation_page::fields(exchange.request.headers(), &body)?;
        let origin = (exchange.id, exchange.origin());
        let result = match (provider.parse::<IdentityProviderId>(), token(&fields)) {
            (Ok(id), Some(token)) => backchannel_logout::log_out(&self.services, id, token, origin).await?,
            (_, _) => LogoutResult::Refused,
        };
        match result {
            LogoutResult::Ended => {}
            LogoutResult::Refused => {
                self.count_failure(exchange)?;
                return Err(ErrorResponse::malformed_request(REFUSAL));
            }
            LogoutResult::OverQuota(rate_limit) => {
                exchange.rate_limit = Some(rate_limit);
                meters::record_refused(LOGOUT);
                return Err(ErrorResponse::too_many(LOGOUT, &rate_limit));
            }
        }
        let mut response = Response::empty(StatusCode::OK);
        response.headers.push((CACHE_CONTROL, HeaderValue::from_static("no-store")));
        Ok(response)
    }
}

fn token(fields: &Object) -> Option<&str> {
    match fields.get(FIELD)? {
        Value::Text(token) => Some(token),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_of_a_logout_has_one_id() {
        assert_eq!(provider("/v1/sign-in/backchannel-logout/idp_1"), Some("idp_1"));
        for path in ["/v1/sign-in/backchannel-logout", "/v1/sign-in/backchannel-logout/a/b", "/v1/sign-in"] {
            assert_eq!(provider(path), None, "{path}");
        }
    }
}
