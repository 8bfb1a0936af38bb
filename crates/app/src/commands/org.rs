//! `candor org`: organizations.

use candor_domain::id::OrganizationId;
use candor_service::usecases::operator;
use serde_json::json;

use crate::error::to_command_error;
use crate::wiring;
use candor_cli::error::CommandError;
use candor_cli::output::{Output, table};
use candor_settings::Config;

/// Creates an organization.
///
/// # Errors
/// An invalid name, or a database that does not exist or does not answer.
pub(crate) async fn create(config: &Config, name: &str, output: Output) -> Result<(), CommandError> {
    let services = wiring::services(config, wiring::link_base(config, config.listen)).await?;
    let creation = operator::create_organization(&services, name).await;
    let id = creation.map_err(to_command_error("create the organization"))?;
    let human_text =
        format!("Created {id}. A first key for it: candor key create --org {id} --name NAME --scopes '*' --admin");
    output.say(&json!({"organization_id": id}), &human_text)
}

/// Lists all organizations.
///
/// # Errors
/// A database that does not exist or does not answer.
pub(crate) async fn list(config: &Config, output: Output) -> Result<(), CommandError> {
    let services = wiring::services(config, wiring::link_base(config, config.listen)).await?;
    let organization_list = operator::list_organizations(&services).await;
    let organizations = organization_list.map_err(to_command_error("list the organizations"))?;
    let mut rows = vec![["ID", "NAME", "CREATED"].map(str::to_owned).to_vec()];
    rows.extend(organizations.iter().map(|organization| {
        vec![organization.id.to_string(), organization.name.clone(), organization.created_at.to_string()]
    }));
    output.say(&json!({"data": organizations}), &table(&rows))
}

/// Renames an organization.
///
/// # Errors
/// An unknown organization, an invalid name, or a database that does not exist or does not answer.
pub(crate) async fn rename(
    config: &Config,
    id: OrganizationId,
    name: &str,
    output: Output,
) -> Result<(), CommandError> {
    let services = wiring::services(config, wiring::link_base(config, config.listen)).await?;
    let rename_result = operator::rename_organization(&services, id, name).await;
    let is_changed = rename_result.map_err(to_command_error(format!("rename {id}")))?;
    let human_text = if is_changed {
        format!("{id} is called {name} now.")
    } else {
        format!("{id} was called {name} already.")
    };
    output.say(&json!({"organization_id": id, "name": name, "changed": is_changed}), &human_text)
}
