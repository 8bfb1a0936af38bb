//! Adds SCIM requests to the log of their connector, which an administrator reads.

use actix_web::http::header::USER_AGENT;
use candor_provisioning::connector::ScimRequest;
use candor_service::Services;
use serde_json::Value;

use crate::contract::route::Dialect;
use crate::pipeline::exchange::Exchange;
use crate::pipeline::record::known_method;
use crate::response::Response;

/// Adds a SCIM request with the key of a connector, and the status of its answer, to the log of this connector.
pub(crate) fn record(services: &Services, exchange: &Exchange<'_>, response: &Response) {
    let Some(caller) = exchange.caller.as_ref().filter(|_| exchange.dialect == Dialect::Scim) else { return };
    let Some(connector_id) = caller.connector else { return };
    let is_error = response.status.is_client_error() || response.status.is_server_error();
    let error = is_error.then(|| serde_json::from_slice::<Value>(&response.body).unwrap_or_default());
    let duration_ms = services.clock.now().millis().saturating_sub(exchange.at.millis());
    let agent = exchange.request.headers().get(USER_AGENT);
    let entry = ScimRequest {
        id: exchange.id,
        connector_id,
        occurred_at: exchange.at,
        method: known_method(exchange.request.method().as_str()).to_owned(),
        path: exchange.request.path().to_owned(),
        status: response.status.as_u16(),
        scim_type: error.and_then(|error| error["scimType"].as_str().map(str::to_owned)),
        duration_ms: u32::try_from(duration_ms).unwrap_or_default(),
        user_agent: agent.map(|agent| String::from_utf8_lossy(agent.as_bytes()).into_owned()),
    };
    services.scim_log.add(caller.tenant, entry);
}
