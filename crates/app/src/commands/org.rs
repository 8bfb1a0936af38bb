//! `candor org`: organizations.

use candor_service::operator;
use serde_json::json;

use crate::config::Config;
use crate::error::Error;
use crate::output::Output;
use crate::wiring;

/// Makes an organization.
///
/// # Errors
/// An invalid name, or a database that does not answer.
pub(crate) async fn create(config: &Config, name: &str, output: Output) -> Result<(), Error> {
    let shell = wiring::shell(config, wiring::link_base(config, config.listen)).await?;
    let created = operator::create_organization(&shell, name).await;
    let id = created.map_err(Error::refused("create the organization"))?;
    let people =
        format!("Created {id}. A first key for it: candor key create --org {id} --name NAME --scopes '*' --admin");
    output.say(&json!({"organization_id": id}), &people)
}
