//! Sample integrations: a webhook whose receiver does not run, and a connector whose last upload has a refused
//! row.

use candor_domain::params::Params;
use candor_service::RequestContext;
use candor_service::usecases::{connectors, employees, webhooks};
use serde_json::json;

use super::{body_of, expect_reply, object, text_id};
use candor_cli::error::CommandError;

/// A port of this machine on which usually no program listens, so that deliveries fail and show their reason.
const RECEIVER: &str = "http://127.0.0.1:9/hooks/candor";
const EVENT_TYPES: [&str; 4] =
    ["objective.status_changed", "summary.shared", "assignment.created", "conversation.message.created"];

/// An upload with one managed person and one row without an e-mail address.
const UPLOAD: &str = "email,first_name,last_name,job_title,custom.cost_center\n\
                      oscar@example.com,Oscar,Silva,Accountant,4100\n\
                      lena,Lena,Vogel,Accountant,4100\n";

/// Creates the webhook. Events that follow are delivered to it.
pub(super) async fn create_webhook(context: &RequestContext) -> Result<(), CommandError> {
    let body =
        json!({"url": RECEIVER, "event_types": EVENT_TYPES, "description": "Sample: no receiver listens here"});
    expect_reply(webhooks::create(context, object(body)).await, "create a sample webhook").map(drop)
}

/// Creates the connector and uploads a file for it.
pub(super) async fn create_connector(context: &RequestContext) -> Result<(), CommandError> {
    let body = json!({"type": "csv_feed", "hris_source": "payroll", "mapped_custom_field_keys": ["cost_center"]});
    let connector = body_of(connectors::create(context, object(body)).await, "create a sample connector")?;
    let params = Params::new(vec![("connector_id".to_owned(), text_id(&connector)?)]);
    let upload = employees::csv::upsert(context.clone(), params, UPLOAD.as_bytes().into());
    expect_reply(upload.await, "upload a sample file").map(drop)
}
