//! SCIM 2.0 for identity providers (RFC 7644). The routes have their own error body and media type, so they are
//! not rows of the route table of `/v1`.

mod endpoint;

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::header::{
    CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH, LOCATION, RETRY_AFTER, USER_AGENT,
};
use actix_web::http::{Method, StatusCode};
use actix_web::web::Payload;
use bytes::Bytes;
use candor_domain::access::{Access, Caller, QuotaClass};
use candor_domain::fields::StringEnum;
use candor_domain::id::EmployeeId;
use candor_domain::idempotency::Fingerprint;
use candor_domain::json::{Object, Value};
use candor_domain::people::connector::ScimRequest;
use candor_domain::scim::{
    Projection, ScimError, ScimErrorType, UserListRequest, list, resource_types, schemas, service_provider_config,
};
use candor_service::usecases::scim::{self, ScimContext};
use candor_service::{Error, Idempotency, Outcome, Reply, RequestContext, Services};
use tracing::Instrument;

use crate::contract::framing;
use crate::contract::parsed_body::Target;
use crate::meters;
use crate::pipeline::admission::admission;
use crate::pipeline::api::Api;
use crate::pipeline::dispatch::take_payload;
use crate::pipeline::exchange::Exchange;
use crate::pipeline::span::use_case;
use crate::pipeline::{large_body, router};
use crate::response::Answer;
use crate::response::error_response::ErrorResponse;
use crate::response::etag;

use endpoint::Endpoint;

/// Prefix of every path of the service.
pub(crate) const BASE: &str = "/scim/v2";
/// Media type of the bodies.
const SCIM_JSON: HeaderValue = HeaderValue::from_static("application/scim+json");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Returns `true` for the paths of the service.
pub(crate) fn is_below(path: &str) -> bool {
    path.strip_prefix(BASE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Creates the response of a failed request in the form of SCIM.
pub(crate) fn refuse_scim(exchange: &Exchange<'_>, error: ErrorResponse) -> Answer {
    let kind = (error.status == StatusCode::BAD_REQUEST).then_some(ScimErrorType::InvalidSyntax);
    let scim =
        ScimError { kind, ..ScimError::with_status(error.status.as_u16(), error.message.clone().into_owned()) };
    let mut answer = Answer::refuse(exchange.id, error);
    answer.body = Bytes::from(scim.body().to_string());
    answer.headers.retain(|(name, _)| *name != CONTENT_TYPE);
    answer.headers.push((CONTENT_TYPE, SCIM_JSON));
    answer
}

fn to_answer(error: &ScimError) -> Answer {
    let mut answer = Answer::with_body(SCIM_JSON, Bytes::from(error.body().to_string()));
    answer.status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let Some(seconds) = error.retry_after {
        answer.headers.push((RETRY_AFTER, HeaderValue::from(seconds)));
    }
    answer
}

fn document(body: &serde_json::Value) -> Answer {
    Answer::with_body(SCIM_JSON, Bytes::from(body.to_string()))
}

fn not_implemented(detail: &str) -> Answer {
    to_answer(&ScimError::with_status(501, detail))
}

fn no_such_path(base: &str) -> Answer {
    let detail = format!("SCIM has no such path. Users are at {base}/Users; paths are case-sensitive.");
    to_answer(&ScimError::with_status(404, detail))
}

/// The query parameters of a request. Names are read without case, and unknown ones are ignored.
struct Query(Vec<(String, String)>);

impl Query {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    fn projection(&self) -> Result<Projection, ScimError> {
        Projection::parse(self.get("attributes"), self.get("excludedAttributes"))
    }
}

impl Api {
    /// Answers a request to a path below [`BASE`].
    pub(crate) async fn scim(
        &self,
        exchange: &mut Exchange<'_>,
        payload: &mut Option<Payload>,
    ) -> Result<Answer, ErrorResponse> {
        let path = router::decode_unreserved(exchange.request.path());
        let endpoint = Endpoint::find(path.strip_prefix(BASE).unwrap_or_default());
        exchange.pattern = endpoint.pattern();
        self.begin_span(exchange);
        let span = exchange.span.clone();
        self.scim_admitted(exchange, &endpoint, payload).instrument(span).await
    }

    /// Checks the authentication (401), then answers the request and adds it to the log of its connector.
    async fn scim_admitted(
        &self,
        exchange: &mut Exchange<'_>,
        endpoint: &Endpoint,
        payload: &mut Option<Payload>,
    ) -> Result<Answer, ErrorResponse> {
        let start = self.services.clock.steady();
        let Some(caller) = self.caller(exchange).await? else {
            self.count_failure(exchange)?;
            return Err(ErrorResponse::no_good_key());
        };
        let admitted_caller = match self.admit_scim(exchange, &caller).await {
            Ok(()) => self.fresh_caller(exchange, &Access::SCIM, Arc::clone(&caller)).await,
            Err(refused) => Err(refused),
        };
        let result = match admitted_caller {
            Ok(caller) => {
                let span = use_case(endpoint.operation(exchange.request.method()));
                self.scim_answer(exchange, endpoint, (&caller, start), payload).instrument(span).await
            }
            Err(refused) => Err(refused),
        };
        let answer = result.unwrap_or_else(|error| Answer::from_error(exchange, error));
        self.log_scim(exchange, &caller, &answer);
        Ok(answer)
    }

    /// Checks the quota (429) and the scope (403), in this order.
    async fn admit_scim(&self, exchange: &mut Exchange<'_>, caller: &Caller) -> Result<(), ErrorResponse> {
        let rate_limit = self.services.limits.admit(caller, QuotaClass::Scim, exchange.at).await;
        exchange.rate_limit = Some(rate_limit);
        if !rate_limit.admitted {
            meters::record_refused(QuotaClass::Scim.word());
            return Err(ErrorResponse::too_many(QuotaClass::Scim.word(), &rate_limit));
        }
        Ok(Access::SCIM.admit(caller)?)
    }

    /// Adds a request to the log of its connector.
    fn log_scim(&self, exchange: &Exchange<'_>, caller: &Caller, answer: &Answer) {
        let Some(connector_id) = caller.connector else { return };
        let body = serde_json::from_slice::<serde_json::Value>(&answer.body)
            .ok()
            .filter(|_| answer.status.as_u16() >= 400);
        let scim_type = body.and_then(|body| body["scimType"].as_str().map(str::to_owned));
        let duration_ms = self.services.clock.now().millis().saturating_sub(exchange.at.millis());
        let agent = exchange.request.headers().get(USER_AGENT);
        let entry = ScimRequest {
            id: exchange.id,
            connector_id,
            occurred_at: exchange.at,
            method: exchange.request.method().to_string(),
            path: exchange.request.path().to_owned(),
            status: answer.status.as_u16(),
            scim_type,
            duration_ms: u32::try_from(duration_ms).unwrap_or_default(),
            user_agent: agent.map(|agent| String::from_utf8_lossy(agent.as_bytes()).into_owned()),
        };
        self.services.scim_log.add(caller.tenant, entry);
    }

    async fn scim_answer(
        &self,
        exchange: &Exchange<'_>,
        endpoint: &Endpoint,
        (caller, begun): (&Arc<Caller>, Duration),
        payload: &mut Option<Payload>,
    ) -> Result<Answer, ErrorResponse> {
        let request = exchange.request;
        if let Some(allow) = endpoint.refused_method(request.method()) {
            return Err(ErrorResponse::wrong_method(&HeaderValue::from_static(allow)));
        }
        let base = self.services.settings.scim_url();
        let query = Query(framing::query(request.query_string())?);
        if !endpoint.is_of_users() {
            return endpoint.discovery(&base, request.method()).ok_or_else(ErrorResponse::not_found);
        }
        let _turn = self.read_turn(exchange, caller, *endpoint == Endpoint::Users).await?;
        // Counts the bytes of the body until the request is answered.
        let _body_count = self.bodies.admit(caller, framing::announced_bytes(request, framing::MAX_BODY_BYTES))?;
        let bytes = match *request.method() {
            Method::POST | Method::PUT | Method::PATCH => Some(self.scim_body(request, payload).await?),
            _ => None,
        };
        let mut context = scim_context(exchange, (caller, begun))?;
        self.services.confirm_caller(&context).await?;
        let key = match *request.method() {
            Method::POST => framing::idempotency_key(request.headers())?,
            _ => None,
        };
        let target = key.is_some().then(|| Target::from_request(request));
        let (bytes, work) = (bytes.unwrap_or_default(), &self.services.large_bodies);
        let (size, tenant) = (bytes.len(), Some(caller.tenant));
        let read = move || members(&bytes, target.as_ref());
        let (body, fingerprint) = large_body::read(work, tenant, size, read).await??;
        let idempotency = key.zip(fingerprint);
        context.idempotency = idempotency.map(|(key, fingerprint)| Idempotency { key, fingerprint });
        let (services, method) = (Arc::clone(&self.services), request.method().clone());
        let (endpoint, context) = (endpoint.clone(), ScimContext::new(&self.services, context, etag::tag)?);
        let users = async move { answer_users(&services, &method, &endpoint, &context, &query, body).await };
        let result =
            if large_body::is_large(size) { large_body::run(work, tenant, users).await? } else { users.await };
        match result {
            Ok(reply) => Ok(answer_of(exchange, &base, reply)),
            Err(Error::ScimRefused(refusal)) => Ok(to_answer(&refusal.error)),
            Err(error) => Err(error.into()),
        }
    }

    async fn scim_body(
        &self,
        request: &HttpRequest,
        payload: &mut Option<Payload>,
    ) -> Result<Bytes, ErrorResponse> {
        let bytes =
            framing::body(request, take_payload(payload)?, self.settings.body_time, framing::MAX_BODY_BYTES)
                .await?;
        if bytes.is_empty() {
            return Err(ErrorResponse::malformed_request("The body is missing; it must be a JSON object."));
        }
        let headers = request.headers();
        framing::is_type(headers, &["application/scim+json", "application/json"], "")?;
        Ok(bytes)
    }
}

fn scim_context(
    exchange: &Exchange<'_>,
    (caller, begun): (&Arc<Caller>, Duration),
) -> Result<RequestContext, ErrorResponse> {
    let if_match = exchange.request.headers().get_all(IF_MATCH).map(|line| line.to_str().unwrap_or_default());
    Ok(RequestContext {
        caller: Arc::clone(caller),
        admission: admission(exchange, begun, &Access::SCIM, caller),
        request: exchange.id,
        origin: exchange.origin(),
        idempotency: None,
        precondition: etag::precondition(if_match)?,
        unexpected_fields: None,
        admin_context: None,
        dry_run: false,
    })
}

/// Parses a body. Returns no members and no fingerprint for a request without a body.
fn members(body: &[u8], target: Option<&Target>) -> Result<(Object, Option<Fingerprint>), ErrorResponse> {
    if body.is_empty() {
        return Ok((Object::new(), None));
    }
    let value = framing::json(body)?;
    let fingerprint = target.map(|target| target.fingerprint(Some(&value)));
    match value {
        Value::Object(members) => Ok((members, fingerprint)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => {
            Err(ErrorResponse::malformed_request("The body must be a JSON object."))
        }
    }
}

/// Answers a request about users.
async fn answer_users(
    services: &Services,
    method: &Method,
    endpoint: &Endpoint,
    context: &ScimContext,
    query: &Query,
    body: Object,
) -> Result<Reply, Error> {
    let projection = query.projection()?;
    let Endpoint::User(id) = endpoint else {
        return match *method {
            Method::POST => scim::create(services, context, body, &projection).await,
            _ => {
                let list = UserListRequest::parse(|name| query.get(name))?;
                scim::list(services, context, &list).await
            }
        };
    };
    let id: EmployeeId = id.parse().map_err(|_| ScimError::not_found())?;
    match *method {
        Method::PUT => scim::replace(services, context, id, body, &projection).await,
        Method::PATCH => scim::patch(services, context, id, &body, &projection).await,
        Method::DELETE => scim::remove(services, context, id).await,
        _ => scim::get(services, context, id, &projection).await,
    }
}

/// Converts a reply about users to an answer.
fn answer_of(exchange: &Exchange<'_>, base: &str, reply: Reply) -> Answer {
    let mut answer = Answer::with_body(SCIM_JSON, reply.body);
    match &reply.outcome {
        Outcome::Done | Outcome::Accepted => {}
        Outcome::Created(id) => {
            answer.status = StatusCode::CREATED;
            let location = HeaderValue::from_str(&format!("{base}/Users/{id}"));
            answer.headers.extend(location.ok().map(|location| (LOCATION, location)));
        }
        Outcome::Removed => answer = Answer::empty(StatusCode::NO_CONTENT),
    }
    if reply.replayed {
        answer.headers.push((REPLAYED, HeaderValue::from_static("true")));
    }
    let Some(version) = reply.version else { return answer };
    let tag = etag::tag(version, reply.etag_extra);
    let lines = exchange.request.headers().get_all(IF_NONE_MATCH);
    let is_known = exchange.is_read() && etag::names(lines.filter_map(|line| line.to_str().ok()), &tag);
    answer.headers.extend(HeaderValue::try_from(format!("W/{tag}")).ok().map(|tag| (ETAG, tag)));
    if is_known {
        answer.status = StatusCode::NOT_MODIFIED;
        answer.body = Bytes::new();
        answer.headers.retain(|(name, _)| *name != CONTENT_TYPE);
    }
    answer
}
