//! Admission of a request: its API key (401), quotas (429) and permissions (403).

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::header::AUTHORIZATION;
use candor_domain::access::{Access, Caller, QuotaClass, api_key};
use candor_domain::fields::StringEnum;
use candor_service::usecases::bearer;
use candor_service::{Admission, Credential};

use crate::connection::address;
use crate::contract::route::{Dialect, Route};
use crate::meters::{self, WITHOUT_KEY};
use crate::pipeline::api::Api;
use crate::pipeline::exchange::Exchange;
use crate::response::error_response::ErrorResponse;

impl Api {
    /// Returns the caller of the API key or bearer token, or `None` if neither is sent, if it is invalid, or if the
    /// network of the client is not allowed for the key.
    async fn caller(&self, exchange: &mut Exchange<'_>) -> Result<Option<Arc<Caller>>, ErrorResponse> {
        let Some(key) = bearer_text(exchange.request) else { return Ok(None) };
        // Tokens of identity providers serve only the routes of `/v1`; SCIM needs the key of a connector.
        if is_token(key) && exchange.dialect == Dialect::V1 {
            let origin = (exchange.id, exchange.origin());
            let caller = bearer::authenticate(&self.services, key, origin).await?;
            return Ok(exchange.set_bearer(caller));
        }
        let caller = self.services.auth.authenticate_client(key, exchange.client.legible_address()).await;
        tracing::trace!(request_id = %exchange.id, known = matches!(caller, Ok(Some(_))), "key looked up");
        exchange.caller = caller.map_err(|error| ErrorResponse::from(candor_service::Error::from(error)))?;
        Ok(exchange.caller.clone())
    }

    /// Checks authentication (401), quotas (429) and permissions (403), in this order. Counts the request against
    /// the quota of its key, and returns the caller.
    pub(crate) async fn admit(
        &self,
        exchange: &mut Exchange<'_>,
        quota: QuotaClass,
        access: &Access,
    ) -> Result<Arc<Caller>, ErrorResponse> {
        let Some(caller) = self.caller(exchange).await? else {
            self.count_failure(exchange)?;
            return Err(ErrorResponse::no_good_key());
        };
        let (method, pattern) = (exchange.request.method(), exchange.pattern);
        tracing::debug!(%method, route = pattern, request_id = %exchange.id, key_id = %caller.key, "request begins");
        let rate_limit = self.services.limits.admit(&caller, quota, exchange.at).await;
        exchange.rate_limit = Some(rate_limit);
        if !rate_limit.admitted {
            meters::record_refused(quota.word());
            return Err(ErrorResponse::too_many(quota.word(), &rate_limit));
        }
        let caller = self.fresh_caller(exchange, access, caller).await?;
        access.admit(&caller)?;
        Ok(caller)
    }

    /// Returns the caller of a request to a route with this access. For a write that could give lost rights back, looks
    /// the caller up in the store instead of the cache (decision B4).
    async fn fresh_caller(
        &self,
        exchange: &mut Exchange<'_>,
        access: &Access,
        caller: Arc<Caller>,
    ) -> Result<Arc<Caller>, ErrorResponse> {
        if exchange.is_read() || !access.needs_fresh_caller(&caller) {
            return Ok(caller);
        }
        let key = bearer_text(exchange.request).unwrap_or_default();
        if is_token(key) {
            let caller = bearer::authenticate_anew(&self.services, key).await?;
            return exchange.set_bearer(caller).ok_or_else(ErrorResponse::no_good_key);
        }
        let caller = self.services.auth.authenticate_anew(key, exchange.client.legible_address()).await;
        exchange.caller = caller.map_err(|error| ErrorResponse::from(candor_service::Error::from(error)))?;
        exchange.caller.clone().ok_or_else(ErrorResponse::no_good_key)
    }

    /// Checks the quota of a request to a route that needs no API key. A write counts against its quota, a read
    /// against none.
    pub(crate) fn admit_visitor(&self, exchange: &mut Exchange<'_>, route: &Route) -> Result<(), ErrorResponse> {
        let (method, pattern) = (exchange.request.method(), exchange.pattern);
        tracing::debug!(%method, route = pattern, request_id = %exchange.id, "request begins");
        let Some(write) = route.keyless_write else {
            let bucket = address::bucket(exchange.client.address);
            exchange.rate_limit = Some(self.services.limits.look_failures(bucket, exchange.at));
            return Ok(());
        };
        self.admit_write(exchange, write)
    }

    /// Counts a request without a route against the quota of its key, without refusing it. A request without a valid
    /// key counts as a failed authentication of the client's address, which may be refused with 429. A SCIM request is
    /// checked like a request to a route, so that the log of its connector has the request.
    pub(crate) async fn no_route(&self, exchange: &mut Exchange<'_>) -> Result<(), ErrorResponse> {
        if exchange.dialect == Dialect::Scim {
            return self.admit(exchange, QuotaClass::Scim, &Access::SCIM).await.map(drop);
        }
        let Some(caller) = self.caller(exchange).await? else { return self.count_failure(exchange) };
        let class = if exchange.is_read() { QuotaClass::Read } else { QuotaClass::Write };
        exchange.rate_limit = Some(self.services.limits.admit(&caller, class, exchange.at).await);
        Ok(())
    }

    /// Counts a failed authentication of the client's address, which may be refused with 429.
    pub(crate) fn count_failure(&self, exchange: &mut Exchange<'_>) -> Result<(), ErrorResponse> {
        let rate_limit = self.services.limits.admit_failure(address::bucket(exchange.client.address), exchange.at);
        exchange.rate_limit = Some(rate_limit);
        if rate_limit.admitted {
            return Ok(());
        }
        meters::record_refused(WITHOUT_KEY);
        Err(ErrorResponse::too_many(WITHOUT_KEY, &rate_limit))
    }
}

/// Returns the admission of a request: its key or token, and `begun`, the time of the monotonic clock before the
/// caller was looked up. `access` is the access that the operation needs.
pub(crate) fn admission(
    exchange: &Exchange<'_>,
    begun: Duration,
    access: &Access,
    caller: &Caller,
) -> Option<Admission> {
    let gives_access = !exchange.is_read() && access.needs_fresh_caller(caller);
    let credential = match &exchange.token {
        Some(token) => Some(Credential::Token(Arc::clone(token))),
        None => bearer_text(exchange.request).and_then(api_key::read).map(Credential::Key),
    };
    credential.map(|credential| Admission { credential, at: begun, gives_access })
}

/// Returns `true` if the text may be a token of an identity provider. No API key has a dot.
fn is_token(text: &str) -> bool {
    text.contains('.')
}

/// Returns the key in `Authorization: Bearer <key>`. The scheme is case-insensitive (RFC 9110 §11.1);
/// surrounding text is not allowed.
fn bearer_text(request: &HttpRequest) -> Option<&str> {
    let mut lines = request.headers().get_all(AUTHORIZATION);
    let (Some(line), None) = (lines.next(), lines.next()) else { return None };
    let (scheme, key) = line.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim_matches(' '))
}
