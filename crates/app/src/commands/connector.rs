//! `candor connector`: connectors of organizations.

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions};
use candor_domain::people::connector::Type;
use candor_service::usecases::operator::{self, NewKeyRequest};
use serde_json::json;

use crate::cli::{Kind, NewConnector};
use crate::error::to_command_error;
use crate::wiring;
use candor_cli::error::CommandError;
use candor_cli::output::Output;
use candor_settings::Config;

/// Path of the SCIM endpoints below the public URL.
const SCIM_PATH: &str = "/scim/v2";

/// Creates a connector. For an identity provider it also creates the key, and shows URL and key once.
///
/// # Errors
/// An unknown organization, a source that is no slug, or a database that does not answer.
pub(crate) async fn create(config: &Config, new: NewConnector, output: Output) -> Result<(), CommandError> {
    let services = wiring::services(config, wiring::link_base(config, config.listen)).await?;
    let kind = match new.kind {
        Kind::Scim => Type::Scim,
        Kind::CsvFeed => Type::CsvFeed,
    };
    let cannot = || to_command_error(format!("create a connector of {}", new.org));
    let connector = operator::create_connector(&services, new.org, kind, &new.source).await.map_err(cannot())?;
    if kind == Type::CsvFeed {
        let human_text = format!("Created {connector}. Upload files with connector_id={connector}.");
        return output.say(&json!({"id": connector}), &human_text);
    }
    let order = NewKeyRequest {
        organization: new.org,
        name: new.source.clone(),
        scopes: Permissions::NONE.with(Permission::Scim),
        level: AccessLevel::Standard,
        environment: if new.test { Environment::Test } else { Environment::Live },
        employee: None,
        expires_at: None,
        reads_per_minute: None,
        writes_per_minute: None,
        connector: Some(connector.to_string()),
        scim_per_minute: new.scim_per_minute,
        allowed_networks: new.networks.unwrap_or_default(),
    };
    let key_result = operator::create_key(&services, order).await;
    let (key_id, token) = key_result.map_err(to_command_error(format!("create a key of {connector}")))?;
    let url = format!("{}{SCIM_PATH}", services.settings.public_url.trim_end_matches('/'));
    let human_text = format!(
        "Created {connector} with the key {key_id}. The token is shown only once:\n\nURL    {url}\nToken  {}",
        token.reveal()
    );
    let object = json!({"id": connector, "key_id": key_id, "url": url, "token": token.reveal()});
    output.say(&object, &human_text)
}
