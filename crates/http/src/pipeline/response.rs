//! Converts the outcome of a request into its response and adds the common headers.

use actix_web::HttpResponse;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH,
    LOCATION, SET_COOKIE, VARY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::http::{ConnectionType, Method, StatusCode};
use bytes::Bytes;
use candor_domain::access::Tenant;
use candor_domain::window::RateLimitStatus;
use candor_fair_share::LargeWork;
use candor_fair_share::large_work::PIECE_BYTES;
use candor_service::{Outcome, Reply};
use tokio::task::spawn_blocking;

use crate::connection::read_gate::ReadGate;
use crate::contract::dry_run;
use crate::contract::request::Captures;
use crate::pipeline::api::Api;
use crate::pipeline::exchange::Exchange;
use crate::response::Response;
use crate::response::byte_budget::BytePermit;
use crate::response::compress::{Encoding, StreamEncoder};
use crate::response::error_response::ErrorResponse;
use crate::response::{body, compress, etag};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const RATE_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const RATE_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RATE_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

impl Response {
    /// Creates the response of a successful use case. `Location` is the path of the collection, by default the
    /// request's path, plus the id of the new resource.
    pub(crate) fn from_reply(api: &Api, exchange: &Exchange<'_>, captures: Captures<'_>, reply: Reply) -> Self {
        let dialect = exchange.dialect;
        let mut response = Self::with_body(dialect.content_type(), reply.body);
        match &reply.outcome {
            Outcome::Done => {}
            Outcome::Created(id) => {
                response.status = StatusCode::CREATED;
                let collection = exchange.route.and_then(|route| route.collection);
                let path = match collection {
                    Some(collection) => format!("{collection}/{id}"),
                    None => format!("{}/{id}", captures.fill(exchange.pattern)),
                };
                response.headers.extend(api.location(dialect, &path).map(|location| (LOCATION, location)));
            }
            Outcome::Accepted => response.status = StatusCode::ACCEPTED,
            Outcome::Removed => response = Self::empty(StatusCode::NO_CONTENT),
        }
        if reply.replayed {
            response.headers.push((REPLAYED, HeaderValue::from_static("true")));
        }
        let cookie = reply.browser_cookie.as_deref().and_then(|value| api.set_cookie(value));
        response.headers.extend(cookie.map(|cookie| (SET_COOKIE, cookie)));
        let Some(tag) = reply.version.map(|version| etag::tag(version, reply.etag_extra)) else { return response };
        let is_unchanged = exchange.is_read() && {
            let lines = exchange.request.headers().get_all(IF_NONE_MATCH);
            etag::names(lines.filter_map(|line| line.to_str().ok()), &tag)
        };
        if let Ok(tag) = HeaderValue::try_from(dialect.entity_tag(tag)) {
            response.headers.push((ETAG, tag));
        }
        if is_unchanged {
            response.status = StatusCode::NOT_MODIFIED;
            response.body = Bytes::new();
            response.headers.retain(|(name, _)| *name != CONTENT_TYPE);
        }
        response
    }

    /// Creates the response of a failed request.
    pub(crate) fn from_error(exchange: &Exchange<'_>, error: ErrorResponse) -> Self {
        if let Some(cause) = &error.cause {
            tracing::error!(
                request_id = %exchange.id, route = exchange.pattern, cause,
                "cannot complete a request; the client gets an error with this request_id"
            );
        }
        let body = exchange.dialect.error_body(&error, exchange.id);
        Self::refuse(exchange.dialect.content_type(), body, error)
    }

    /// Compresses a large body on the thread pool for large work, which serves the tenants in turn: each piece takes a
    /// turn, because gzip needs a second for a page of the largest size. [`Self::into_response`] compresses smaller
    /// bodies.
    pub(crate) async fn compressed_apart(mut self, api: &Api, exchange: &Exchange<'_>) -> Self {
        let Some(caller) = exchange.caller.as_ref().filter(|_| !self.is_encoded && self.body.len() > PIECE_BYTES)
        else {
            return self;
        };
        let Some(encoding) = compress::accepted_encoding(exchange.request.headers()) else { return self };
        self.headers.push((VARY, HeaderValue::from_static("Accept-Encoding")));
        self.is_encoded = true;
        let work = &api.services.large_work;
        let smaller_body = compress_in_pieces(work, caller.tenant, encoding, &self.body).await;
        // If compression fails or saves nothing, the body goes out uncompressed.
        if let Some(smaller_body) = smaller_body.filter(|smaller| smaller.len() < self.body.len()) {
            self.headers.push((CONTENT_ENCODING, HeaderValue::from_static(encoding.name())));
            self.body = smaller_body;
        }
        self
    }

    /// Encodes the body for the client and counts it against the caller's budget.
    ///
    /// # Errors
    /// 503 if the caller has too many unsent answers.
    fn admit_body(
        mut self,
        api: &Api,
        exchange: &Exchange<'_>,
    ) -> Result<(Self, Option<BytePermit>), ErrorResponse> {
        let request = exchange.request;
        if !self.is_encoded {
            self.body = compress::apply(request.headers(), &mut self.headers, self.body);
            self.is_encoded = true;
        }
        let Some(caller) = exchange.caller.as_ref().filter(|_| *request.method() != Method::HEAD) else {
            return Ok((self, None));
        };
        let bytes = self.body.len();
        // Answers to committed writes have no limit: a refusal would make the client repeat the write. A dry run has
        // changed nothing.
        let is_limited = exchange.is_read() || exchange.is_dry_run;
        let permit =
            if is_limited { api.responses.admit(caller, bytes)? } else { api.responses.count(caller, bytes) };
        Ok((self, permit))
    }

    /// Creates the final response, or an error if the answer exceeds the memory budget.
    pub(crate) fn into_response(self, api: &Api, exchange: &Exchange<'_>) -> HttpResponse {
        match self.admit_body(api, exchange) {
            Ok((response, permit)) => response.respond(api, exchange, permit),
            Err(error) => Self::from_error(exchange, error).respond(api, exchange, None),
        }
    }

    fn respond(mut self, api: &Api, exchange: &Exchange<'_>, permit: Option<BytePermit>) -> HttpResponse {
        let mut response = HttpResponse::new(self.status);
        let (request, headers) = (exchange.request.headers(), response.headers_mut());
        if let Some(lines) = &mut self.lines {
            self.headers.push((VARY, HeaderValue::from_static("Accept-Encoding")));
            let accepted_encoding = compress::accepted_encoding(request);
            if let Some(encoding) = accepted_encoding.filter(|encoding| lines.compress(*encoding)) {
                self.headers.push((CONTENT_ENCODING, HeaderValue::from_static(encoding.name())));
            }
        }
        for (name, value) in self.headers {
            headers.insert(name, value);
        }
        if let Ok(id) = HeaderValue::try_from(exchange.id.to_string()) {
            headers.insert(REQUEST_ID, id);
        }
        if exchange.is_dry_run {
            headers.insert(dry_run::HEADER, HeaderValue::from_static("true"));
        }
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if !headers.contains_key(CACHE_CONTROL) {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
        if let Some(rate_limit) = &exchange.rate_limit {
            write_rate_limit(rate_limit, headers);
        }
        if api.readiness.is_draining() {
            // Announces the end of keep-alive connections before they are closed.
            response.head_mut().set_connection_type(ConnectionType::Close);
        }
        let headers = response.headers_mut();
        api.cors.apply(request, headers);
        if let Some(lines) = self.lines {
            let streaming = exchange.request.conn_data::<ReadGate>().map(ReadGate::begin_stream);
            return response.set_body(lines.into_body(api.readiness.clone(), streaming));
        }
        if *exchange.request.method() != Method::HEAD && self.body.is_empty() {
            return response;
        }
        response.set_body(body::with_permit(self.body, permit))
    }
}

/// Compresses a body piece by piece. Returns `None` if that fails, or if too much data of the organization waits.
async fn compress_in_pieces(work: &LargeWork, tenant: Tenant, encoding: Encoding, body: &Bytes) -> Option<Bytes> {
    let (mut encoder, mut output) = (StreamEncoder::new(encoding)?, Vec::new());
    let mut rest = body.clone();
    while !rest.is_empty() {
        let piece = rest.split_to(rest.len().min(PIECE_BYTES));
        let turn = work.turn_with(tenant, body.len()).await.ok()?;
        let compress = move || {
            let _turn = turn;
            let part = encoder.compress(&piece, false);
            (encoder, part)
        };
        let (returned_encoder, part) = spawn_blocking(compress).await.ok()?;
        encoder = returned_encoder;
        output.extend_from_slice(&part.ok()?);
    }
    output.extend_from_slice(&encoder.finish().ok()?);
    Some(output.into())
}

fn write_rate_limit(rate_limit: &RateLimitStatus, headers: &mut HeaderMap) {
    headers.insert(RATE_LIMIT, HeaderValue::from(rate_limit.limit));
    headers.insert(RATE_REMAINING, HeaderValue::from(rate_limit.remaining));
    headers.insert(RATE_RESET, HeaderValue::from(rate_limit.reset_at_seconds));
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use candor_domain::id::OrganizationId;
    use flate2::read::GzDecoder;
    use futures_util::FutureExt;
    use futures_util::future::{Either, select};

    use super::*;

    #[tokio::test]
    async fn body_is_compressed_in_pieces_of_one_turn_each() {
        let tenant = |number: u8| Tenant::live(OrganizationId::from_bytes([number; 16]));
        let (work, body) = (LargeWork::with_turns(1), Bytes::from(vec![b'a'; PIECE_BYTES * 3 + 1]));
        let mut turn = work.turn(tenant(1)).await.unwrap();
        let mut compression = Box::pin(compress_in_pieces(&work, tenant(2), Encoding::Gzip, &body));
        let mut pieces = 0;
        let compressed_body = loop {
            // The compression ends, or waits for the turn that this test has.
            let end = loop {
                let end = (&mut compression).now_or_never();
                if end.is_some() || work.is_awaited() {
                    break end;
                }
                tokio::task::yield_now().await;
            };
            if let Some(compressed_body) = end {
                break compressed_body.unwrap();
            }
            pieces += 1;
            let next_turn = Box::pin(async {
                drop(turn);
                work.turn(tenant(1)).await.unwrap()
            });
            turn = match select(next_turn, &mut compression).await {
                Either::Left((next_turn, _)) => next_turn,
                Either::Right((compressed_body, _)) => break compressed_body.unwrap(),
            };
        };
        assert_eq!(pieces, 4);
        let mut plain_body = vec![];
        GzDecoder::new(compressed_body.as_ref()).read_to_end(&mut plain_body).unwrap();
        assert_eq!(plain_body, body);
    }
}
