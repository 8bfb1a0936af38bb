//! `GET /v1/sign-in/callback/{id}`: the browser comes back from an identity provider (decision B10).
//!
//! Its client is a browser that follows a redirect, so the result of a sign-in, too, is a redirect. The path is
//! outside of the route table and of the API document, like the path of `backchannel_logout`.

use actix_web::http::header::{COOKIE, HeaderValue, LOCATION, REFERRER_POLICY};
use actix_web::http::{Method, StatusCode};
use candor_service::context::limits::KeylessWrite;
use candor_service::usecases::sign_in;
use candor_service::usecases::sign_in::{Browser, ReturningBrowser, open_browser};
use candor_sign_in::sign_in::SignInResponse;

use crate::connection::address;
use crate::contract::framing;
use crate::contract::route::BASE;
use crate::meters;
use crate::pipeline::api::Api;
use crate::pipeline::exchange::Exchange;
use crate::response::Response;
use crate::response::error_response::ErrorResponse;

/// Path below [`BASE`], without the id of the provider.
const PATH: &str = "/sign-in/callback/";
/// Label of requests in metrics and in the log.
const PATTERN: &str = "/v1/sign-in/callback/{id}";
/// Name of the cookie. With its prefix, browsers accept it from this host alone, over TLS.
const COOKIE_NAME: &str = "__Host-candor_signin";
/// Name of the cookie without TLS, for `candor dev`.
const PLAIN_COOKIE_NAME: &str = "candor_signin";
/// Lifetime of the cookie in seconds: 400 days, the longest that browsers accept. The cookie identifies no person.
const COOKIE_SECONDS: u32 = 400 * 86_400;

/// Returns the text of the id in the path of a callback, if the path is one.
pub(crate) fn provider(path: &str) -> Option<&str> {
    let id = path.strip_prefix(BASE)?.strip_prefix(PATH)?;
    (!id.contains('/')).then_some(id)
}

impl Api {
    /// Answers a callback: completes the sign-in and redirects the browser.
    pub(crate) async fn complete_sign_in(
        &self,
        exchange: &mut Exchange<'_>,
        provider: &str,
    ) -> Result<Response, ErrorResponse> {
        exchange.pattern = PATTERN;
        match *exchange.request.method() {
            Method::GET => {}
            Method::OPTIONS => return Ok(Response::options(&HeaderValue::from_static("GET, OPTIONS"))),
            _ => return Err(ErrorResponse::wrong_method(&HeaderValue::from_static("GET, OPTIONS"))),
        }
        self.admit_write(exchange, KeylessWrite::SignIn)?;
        let mut redirect = SignInResponse::default();
        for (name, value) in framing::query(exchange.request.query_string())? {
            match name.as_str() {
                "state" => redirect.state = Some(value),
                "code" => redirect.code = Some(value),
                "iss" => redirect.issuer = Some(value),
                "error" => redirect.error = Some(value),
                _ => {}
            }
        }
        let (cookie, origin) = (self.sign_in_cookie(exchange), (exchange.id, exchange.origin()));
        let browser =
            ReturningBrowser { cookie: cookie.as_deref(), address: address::bucket(exchange.client.address) };
        let address = sign_in::complete(&self.services, provider, redirect, browser, origin).await?;
        let mut response = Response::empty(StatusCode::SEE_OTHER);
        response.headers.extend(HeaderValue::try_from(address).map(|address| (LOCATION, address)).ok());
        // The address of the callback contains the code of the provider, which must not become a referrer.
        response.headers.push((REFERRER_POLICY, HeaderValue::from_static("no-referrer")));
        Ok(response)
    }

    /// Counts a write without an API key against the quotas of its client address and, in a sign-in, of its browser.
    pub(crate) fn admit_write(
        &self,
        exchange: &mut Exchange<'_>,
        write: KeylessWrite,
    ) -> Result<(), ErrorResponse> {
        let bucket = address::bucket(exchange.client.address);
        let mut rate_limit = self.services.limits.admit_keyless(write, bucket, exchange.at);
        if rate_limit.admitted
            && write == KeylessWrite::SignIn
            && let Some(browser) = self.browser(exchange)
        {
            let bucket = browser.bucket();
            rate_limit = self.services.limits.admit_keyless(KeylessWrite::SignInOfBrowser, bucket, exchange.at);
        }
        exchange.rate_limit = Some(rate_limit);
        if rate_limit.admitted {
            return Ok(());
        }
        meters::record_refused(write.word());
        Err(ErrorResponse::too_many(write.word(), &rate_limit))
    }

    fn browser(&self, exchange: &Exchange<'_>) -> Option<Browser> {
        open_browser(&self.services, &self.sign_in_cookie(exchange)?)
    }

    /// Returns the value of the cookie of sign-ins.
    pub(crate) fn sign_in_cookie(&self, exchange: &Exchange<'_>) -> Option<String> {
        let lines = exchange.request.headers().get_all(COOKIE).filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let name = self.cookie_name();
        pairs.filter(|(other, _)| *other == name).map(|(_, value)| value.to_owned()).next()
    }

    /// Returns the header that sets the cookie of sign-ins.
    pub(crate) fn set_cookie(&self, value: &str) -> Option<HeaderValue> {
        let name = self.cookie_name();
        let secure = if name == COOKIE_NAME { "; Secure" } else { "" };
        let text = format!("{name}={value}; Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::try_from(text).ok()
    }

    fn cookie_name(&self) -> &'static str {
        let is_plain = self.services.settings.public_url.starts_with("http:");
        if is_plain { PLAIN_COOKIE_NAME } else { COOKIE_NAME }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_of_a_callback_has_one_id() {
        assert_eq!(provider("/v1/sign-in/callback/idp_1"), Some("idp_1"));
        for path in ["/v1/sign-in/callback", "/v1/sign-in/callback/a/b", "/v1/sign-in"] {
            assert_eq!(provider(path), None, "{path}");
        }
    }
}
