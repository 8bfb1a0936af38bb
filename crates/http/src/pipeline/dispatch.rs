//! Checks every request in a fixed order: route, 401, 429, 403, framing, use case (decision A13).

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use actix_web::http::Method;
use actix_web::http::header::IF_MATCH;
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use candor_domain::access::Caller;
use candor_domain::json::Object;
use candor_domain::params::Params;
use candor_people_csv as csv;
use candor_service::{Idempotency, Reply, RequestContext};
use futures_util::FutureExt;
use tracing::{Instrument, Span};

use crate::connection::address::{self, Client};
use crate::connection::read_gate::ReadGate;
use crate::contract::parsed_body::{ParsedBody, Target};
use crate::contract::request::{AnonymousRequest, AuthenticatedRequest, Captures};
use crate::contract::route::{BASE, Body, Dialect, Handler, KeyedHandler, Route};
use crate::contract::{dry_run, framing};
use crate::openapi;
use crate::pages::invitation_page;
use crate::pipeline::admission::admission;
use crate::pipeline::api::Api;
use crate::pipeline::exchange::Exchange;
use crate::pipeline::read_turns::ReadTurn;
use crate::pipeline::record::Record;
use crate::pipeline::router::Resource;
use crate::pipeline::scim_log;
use crate::pipeline::span::use_case;
use crate::pipeline::{backchannel_logout, docs, large_body, router, sign_in};
use crate::response::Response;
use crate::response::byte_budget::BytePermit;
use crate::response::error_response::ErrorResponse;
use crate::response::etag;
use crate::routes::scim;

/// Entry point of every request: runs the checks and the handler, then records the answer.
pub(crate) async fn entry(api: Data<Api>, request: HttpRequest, payload: Payload) -> HttpResponse {
    let mut payload = Some(payload);
    let _answering = request.conn_data::<ReadGate>().map(ReadGate::begin_response);
    let now = api.services.clock.now();
    let dialect = Dialect::of_path(&router::decode_unreserved(request.path()));
    let mut exchange = Exchange {
        request: &request,
        id: api.services.id(now),
        at: now,
        client: client(&api, &request),
        dialect,
        pattern: dialect.unknown_pattern(),
        route: None,
        is_dry_run: false,
        rate_limit: None,
        caller: None,
        token: None,
        span: Span::none(),
    };
    let record = Record::begin(exchange.id);
    let work = AssertUnwindSafe(api.work(&mut exchange, &mut payload)).catch_unwind();
    let result = match tokio::time::timeout(api.settings.request_budget, work).await {
        Ok(Ok(done)) => done,
        Ok(Err(panic)) => Err(ErrorResponse::defect(format!("panicked: {}", panic_text(&*panic)))),
        Err(_) => Err(ErrorResponse::out_of_time()),
    };
    if let Some(payload) = payload {
        framing::pass_over(&request, payload).await;
    }
    let has_quota = dialect == Dialect::Scim || request.path().starts_with(BASE);
    if exchange.rate_limit.is_none() && has_quota {
        exchange.rate_limit =
            Some(api.services.limits.look_failures(address::bucket(exchange.client.address), now));
    }
    let response = result.unwrap_or_else(|error| Response::from_error(&exchange, error));
    scim_log::record(&api.services, &exchange, &response);
    let response = response.compressed_apart(&api, &exchange).await;
    let response = if exchange.is_form() { invitation_page::outcome(response) } else { response };
    let bytes = response.body.len();
    let http_response = response.into_response(&api, &exchange);
    let status = http_response.status();
    exchange.span.record("http.response.status_code", status.as_u16());
    record.finish(&api.services, &exchange, status, bytes);
    http_response
}

/// Resolves the address of the client and reports trusted proxies whose header is unreadable.
fn client(api: &Api, request: &HttpRequest) -> Client {
    let peer = request.peer_addr().map(|peer| peer.ip());
    let client = address::client(peer, request.headers(), &api.settings.trusted_proxies);
    if client.is_unreadable {
        api.report_unreadable_forwarded_header(client.address);
    }
    client
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> Cow<'_, str> {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    Cow::Borrowed(text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message"))
}

impl Api {
    async fn work(
        &self,
        exchange: &mut Exchange<'_>,
        payload: &mut Option<Payload>,
    ) -> Result<Response, ErrorResponse> {
        let request = exchange.request;
        framing::head(request.uri(), request.headers())?;
        if let Some((pattern, page)) = docs::page(request.path()) {
            exchange.pattern = pattern;
            return docs::find_response(self, exchange, page).await;
        }
        if let Some(provider) = backchannel_logout::provider(request.path()) {
            return self.log_out(exchange, provider, payload).await;
        }
        if let Some(provider) = sign_in::provider(request.path()) {
            return self.complete_sign_in(exchange, provider).await;
        }
        let path = router::decode_unreserved(request.path());
        let Some((resource, captures)) = self.router.find(&path) else {
            return Err(self.refuse_path(exchange, &path, None).await);
        };
        exchange.pattern = resource.pattern;
        if request.method() == Method::OPTIONS {
            return Ok(Response::options(&resource.allow));
        }
        if let Some(page) = resource.page(request.method()) {
            return Ok(page(request));
        }
        let Some(route) = resource.route(request.method()) else {
            return Err(self.refuse_path(exchange, &path, Some(resource)).await);
        };
        exchange.route = Some(route);
        exchange.is_dry_run = dry_run::is_asked(route, request.query_string());
        self.begin_span(exchange);
        let span = exchange.span.clone();
        self.carry_out(exchange, route, captures, payload).instrument(span).await
    }

    /// Returns the error of a request whose path has no route, or no route for its method.
    async fn refuse_path(
        &self,
        exchange: &mut Exchange<'_>,
        path: &str,
        resource: Option<&Resource>,
    ) -> ErrorResponse {
        if let Err(refusal) = self.no_route(exchange).await {
            return refusal;
        }
        let is_scim = exchange.dialect == Dialect::Scim;
        if let Some(refusal) = scim::refuse_unsupported(path, exchange.is_read()).filter(|_| is_scim) {
            return refusal;
        }
        match resource {
            Some(resource) => ErrorResponse::wrong_method(&resource.allow),
            None if is_scim => scim::no_such_path(&self.services.settings.scim_url()),
            None => ErrorResponse::no_such_path(self.router.suggest(path)),
        }
    }

    /// Validates a request with a route and runs its handler.
    async fn carry_out(
        &self,
        exchange: &mut Exchange<'_>,
        route: &'static Route,
        captures: Captures<'_>,
        payload: &mut Option<Payload>,
    ) -> Result<Response, ErrorResponse> {
        let reply = match route.handler {
            Handler::Keyed(handler) => {
                let start = self.services.clock.steady();
                let caller = self.admit(exchange, route.quota, &route.access).await?;
                let may_be_large = route.answers_page() || exchange.request.query_string().contains("expand");
                let _turn = self.read_turn(exchange, &caller, may_be_large).await?;
                let (asked, _counted) =
                    self.read_request(exchange, route, captures, (caller, start), payload).await?;
                // Rights may be lost while the client sends its body, or while the request waits for its turn.
                asked.context.confirm_caller().await?;
                if asked.is_large {
                    self.run_large_body(route, handler, asked).await??
                } else {
                    handler(asked).instrument(use_case(route.operation)).await?
                }
            }
            Handler::Lines(handler) => {
                let start = self.services.clock.steady();
                let caller = self.admit(exchange, route.quota, &route.access).await?;
                let (mut asked, _counted) =
                    self.read_request(exchange, route, captures, (caller, start), payload).await?;
                asked.context.confirm_caller().await?;
                asked.context.origin = exchange.origin();
                let is_head = *exchange.request.method() == Method::HEAD;
                let lines = handler(asked, is_head).instrument(use_case(route.operation)).await?;
                return Ok(Response::with_lines(lines));
            }
            Handler::Open(handler) => {
                self.admit_visitor(exchange, route)?;
                let visit = self.visit(exchange, route, payload).await?;
                handler(&self.services, visit).instrument(use_case(route.operation)).await?
            }
            Handler::Document => return Ok(openapi::document_asset().answer(exchange.request.headers())),
        };
        Ok(Response::from_reply(self, exchange, captures, reply))
    }

    /// Runs a handler with a large body on blocking threads, so that it does not hold up the other requests of the
    /// worker.
    async fn run_large_body(
        &self,
        route: &Route,
        handler: KeyedHandler,
        asked: AuthenticatedRequest<'_>,
    ) -> Result<Result<Reply, candor_service::Error>, ErrorResponse> {
        let AuthenticatedRequest { context, captures, params, body, csv, is_large } = asked;
        let (operation, tenant) = (route.operation, context.caller.tenant);
        let identifiers = captures.to_texts();
        let reply = async move {
            let captures = Captures::from_texts(&identifiers);
            let authenticated_request = AuthenticatedRequest { context, captures, params, body, csv, is_large };
            handler(authenticated_request).instrument(use_case(operation)).await
        };
        large_body::run(&self.services.large_bodies, Some(tenant), reply).await
    }

    /// Refuses a read if the caller has no room for the answer. A read whose answer may be large waits for its turn.
    /// Returns the turn, or `None` if the request needs none.
    async fn read_turn(
        &self,
        exchange: &Exchange<'_>,
        caller: &Caller,
        may_be_large: bool,
    ) -> Result<Option<ReadTurn>, ErrorResponse> {
        if !exchange.is_read() {
            return Ok(None);
        }
        self.responses.require_room(caller)?;
        if !may_be_large {
            return Ok(None);
        }
        let turn = self.read_turns.take(caller.key).await;
        // Answers of earlier reads may have taken the room during the wait.
        self.responses.require_room(caller)?;
        Ok(Some(turn))
    }

    /// Reads the request, and counts its body and the values of its body until the permits are dropped.
    async fn read_request<'a>(
        &self,
        exchange: &Exchange<'_>,
        route: &Route,
        captures: Captures<'a>,
        (caller, begun): (Arc<Caller>, Duration),
        payload: &mut Option<Payload>,
    ) -> Result<(AuthenticatedRequest<'a>, [Option<BytePermit>; 2]), ErrorResponse> {
        let request = exchange.request;
        let params = Params::new(framing::query(request.query_string())?);
        let dry_run = dry_run::read(route, &params)?;
        let context = RequestContext {
            admission: admission(exchange, begun, &route.access, &caller),
            admin_context: route.access.admin_context(),
            dry_run,
            ..RequestContext::new(Arc::clone(&self.services), caller, exchange.id)
        };
        if route.method == crate::contract::route::Method::Get {
            let (body, csv) = (Object::new(), Bytes::new());
            return Ok((
                AuthenticatedRequest { context, captures, params, body, csv, is_large: false },
                [None, None],
            ));
        }
        let key = if route.is_idempotent() { framing::idempotency_key(request.headers())? } else { None };
        let most = if route.body == Body::Csv { csv::MAX_BYTES } else { framing::MAX_BODY_BYTES };
        let announced_bytes = self.bodies.admit(&context.caller, framing::announced_bytes(request, most))?;
        let (bytes, csv) = self.read_bytes(request, route, payload, most).await?;
        // The values of a body take up to forty times its size, and wait for turns and stores.
        let value_bytes = self.bodies.admit(&context.caller, framing::value_bytes(&bytes)?)?;
        let counted_bytes = [announced_bytes, value_bytes];
        // A dry run ignores the idempotency key, so that the real request can still use the key.
        let key = key.filter(|_| !dry_run);
        let is_large = large_body::is_large(bytes.len());
        let target = key.is_some().then(|| Target::from_request(request));
        let size = bytes.len().max(csv.len());
        let (file, form) = (csv.clone(), route.body);
        let read = move || ParsedBody::read(&bytes, &file, form, target.as_ref());
        let tenant = Some(context.caller.tenant);
        let parsed_body = large_body::read(&self.services.large_bodies, tenant, size, read).await??;
        let idempotency = key.zip(parsed_body.fingerprint);
        let idempotency = idempotency.map(|(key, fingerprint)| Idempotency { key, fingerprint });
        let if_match = request.headers().get_all(IF_MATCH).map(|value| value.to_str().unwrap_or_default());
        let precondition = if route.is_conditional() { etag::precondition(if_match)? } else { None };
        let unexpected_fields = parsed_body.unexpected;
        let context =
            RequestContext { origin: exchange.origin(), idempotency, precondition, unexpected_fields, ..context };
        let body = parsed_body.members;
        Ok((AuthenticatedRequest { context, captures, params, body, csv, is_large }, counted_bytes))
    }

    /// Reads the body: a JSON text, or a CSV file.
    async fn read_bytes(
        &self,
        request: &HttpRequest,
        route: &Route,
        payload: &mut Option<Payload>,
        most: usize,
    ) -> Result<(Bytes, Bytes), ErrorResponse> {
        match route.body {
            Body::Csv => {
                Ok((Bytes::new(), framing::csv(request, take_payload(payload)?, self.settings.body_time).await?))
            }
            Body::None | Body::Optional(_) | Body::Required(_) if !route.reads_body() => {
                Ok((Bytes::new(), Bytes::new()))
            }
            Body::None | Body::Optional(_) | Body::Required(_) => {
                Ok((self.body(request, route, take_payload(payload)?, most).await?, Bytes::new()))
            }
        }
    }

    async fn visit(
        &self,
        exchange: &Exchange<'_>,
        route: &Route,
        payload: &mut Option<Payload>,
    ) -> Result<AnonymousRequest, ErrorResponse> {
        dry_run::read(route, &Params::new(framing::query(exchange.request.query_string())?))?;
        let (request, origin, client) = (exchange.id, exchange.origin(), exchange.client.legible_address());
        let cookie = self.sign_in_cookie(exchange);
        if route.method == crate::contract::route::Method::Get {
            return Ok(AnonymousRequest { request, origin, client, cookie, body: Object::new() });
        }
        let (payload, most) = (take_payload(payload)?, framing::MAX_ANONYMOUS_BODY_BYTES);
        if exchange.is_form() {
            let bytes = framing::body(exchange.request, payload, self.settings.body_time, most).await?;
            let body = invitation_page::fields(exchange.request.headers(), &bytes)?;
            return Ok(AnonymousRequest { request, origin, client, cookie, body });
        }
        let bytes = self.body(exchange.request, route, payload, most).await?;
        let body = ParsedBody::read(&bytes, &[], route.body, None)?.members;
        Ok(AnonymousRequest { request, origin, client, cookie, body })
    }

    /// Reads the JSON body of at most `most` bytes. It may be empty unless the route requires one.
    async fn body(
        &self,
        request: &HttpRequest,
        route: &Route,
        payload: Payload,
        most: usize,
    ) -> Result<Bytes, ErrorResponse> {
        let bytes = framing::body(request, payload, self.settings.body_time, most).await?;
        match route.body {
            Body::Required(_) if bytes.is_empty() => {
                Err(ErrorResponse::malformed_request("The body is missing; it must be a JSON object."))
            }
            Body::None | Body::Optional(_) | Body::Required(_) | Body::Csv => {
                if !bytes.is_empty() {
                    framing::is_type(request.headers(), route.dialect.media_types(), "")?;
                }
                Ok(bytes)
            }
        }
    }
}

/// Takes the payload, which can be read only once.
pub(crate) fn take_payload(payload: &mut Option<Payload>) -> Result<Payload, ErrorResponse> {
    payload.take().ok_or_else(|| ErrorResponse::defect("the body is read twice".to_owned()))
}
