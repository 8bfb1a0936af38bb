//! `candor console`: one-time links into the console.

use candor_domain::access::api_key::MAX_LINK_SECONDS;
use candor_domain::access::{AccessLevel, AllowedNetworks, Environment, Permissions};
use candor_domain::id::OrganizationId;
use candor_service::Services;
use candor_service::usecases::operator::{self, NewLink, NewLinkRequest};
use serde_json::json;

use super::key;
use crate::cli::NewLinkArguments;
use crate::error::to_command_error;
use crate::wiring;
use candor_cli::error::{CommandError, CommandFailure};
use candor_cli::output::Output;
use candor_settings::Config;

/// Name of the keys of links that an operator creates.
const NAME: &str = "candor console";

/// Failure to choose the organization of a link: there is none, or there are several.
#[derive(Debug, thiserror::Error)]
enum UnknownOrganizationError {
    #[error("cannot create a link: there is no organization; create one with `candor org create --name NAME`")]
    None,
    #[error("cannot create a link: there are several organizations; name one with --org, see `candor org list`")]
    Several,
}

impl CommandFailure for UnknownOrganizationError {}

/// Prints a link that opens the console signed in, once.
///
/// # Errors
/// An unknown scope or organization, no organization to choose, or a database that does not answer.
pub(crate) async fn run(config: &Config, new: NewLinkArguments, output: Output) -> Result<(), CommandError> {
    let scopes = key::scopes(&new.scopes)?;
    let services = wiring::services(config, wiring::link_base(config, config.listen)).await?;
    let organization = match new.org {
        Some(organization) => organization,
        None => only_organization(&services).await?,
    };
    let environment = if new.test { Environment::Test } else { Environment::Live };
    let networks = new.networks.unwrap_or_default();
    let link = create(&services, organization, NAME, (scopes, environment, networks)).await?;
    let hint = if config.console { "" } else { "\nThe console is off here: the service needs CANDOR_CONSOLE=on." };
    let expiry = link.expires_at.map(|end| end.to_string()).unwrap_or_default();
    let human_text = format!("This link opens the console once, until {expiry}:\n{}{hint}", link.url.reveal());
    output
        .say(&json!({"url": link.url.reveal(), "key_id": link.key_id, "expires_at": link.expires_at}), &human_text)
}

async fn only_organization(services: &Services) -> Result<OrganizationId, CommandError> {
    let organizations = services.store.organizations(None, 2).await;
    let organizations = organizations.map_err(|error| to_command_error("list the organizations")(error.into()))?;
    match organizations.as_slice() {
        [] => Err(UnknownOrganizationError::None.into()),
        [only] => Ok(only.id),
        _ => Err(UnknownOrganizationError::Several.into()),
    }
}

/// Creates a link with a key of the admin level that lasts a day.
///
/// # Errors
/// An unknown organization, or a database that does not answer.
pub(crate) async fn create(
    services: &Services,
    organization: OrganizationId,
    name: &str,
    (scopes, environment, allowed_networks): (Permissions, Environment, AllowedNetworks),
) -> Result<NewLink, CommandError> {
    let order = NewLinkRequest {
        organization,
        name: name.to_owned(),
        scopes,
        level: AccessLevel::Admin,
        environment,
        seconds: MAX_LINK_SECONDS,
        allowed_networks,
    };
    operator::create_link(services, order)
        .await
        .map_err(to_command_error(format!("create a link of {organization}")))
}

/// Returns a link if the installation has just one organization and the organization has no API key, as at a first
/// start. A failure is logged, because it must not stop the service.
pub(crate) async fn first_link(services: &Services) -> Option<NewLink> {
    let link = async {
        let organization_id = operator::organization_without_key(services).await;
        match organization_id.map_err(to_command_error("look for API keys"))? {
            None => Ok::<_, CommandError>(None),
            Some(organization) => {
                let name = "First start";
                let access = (Permissions::ALL, Environment::Live, AllowedNetworks::EVERYWHERE);
                create(services, organization, name, access).await.map(Some)
            }
        }
    };
    link.await.unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot print a console sign-in link; run `candor console`");
        None
    })
}
