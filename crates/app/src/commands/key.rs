//! `candor key`: API keys of organizations.

use candor_domain::access::api_key::ApiKey;
use candor_domain::access::{AccessLevel, Environment, Permission, Permissions};
use candor_domain::fields::StringEnum;
use candor_domain::id::{KeyId, OrganizationId};
use candor_domain::time::Timestamp;
use candor_port_clock::{Clock, SystemClock};
use candor_service::usecases::operator::{self, NewKeyRequest};
use serde_json::json;

use crate::cli::NewKey;
use crate::error::to_command_error;
use crate::wiring;
use candor_cli::error::CommandError;
use candor_cli::output::{Output, table};
use candor_settings::Config;

/// Creates a key and shows it once.
///
/// # Errors
/// An unknown scope, organization or person, or a database that does not answer.
pub(crate) async fn create(config: &Config, new: NewKey, output: Output) -> Result<(), CommandError> {
    let scopes = scopes(&new.scopes)?;
    let services = wiring::services(config, wiring::link_base(config, config.listen)).await?;
    let order = NewKeyRequest {
        organization: new.org,
        name: new.name,
        scopes,
        level: if new.admin { AccessLevel::Admin } else { AccessLevel::Standard },
        environment: if new.test { Environment::Test } else { Environment::Live },
        employee: new.employee.map(|employee| employee.to_string()),
        expires_at: new.expires,
        reads_per_minute: new.reads_per_minute,
        writes_per_minute: new.writes_per_minute,
        connector: new.connector.map(|connector| connector.to_string()),
        scim_per_minute: new.scim_per_minute,
        allowed_networks: new.networks.unwrap_or_default(),
    };
    let key_result = operator::create_key(&services, order).await;
    let (id, key) = key_result.map_err(to_command_error(format!("create a key of {}", new.org)))?;
    let human_text = format!("Created {id}. The key is shown only once:\n{}", key.reveal());
    output.say(&json!({"id": id, "key": key.reveal()}), &human_text)
}

/// Lists the keys of an organization, or of all organizations.
///
/// # Errors
/// An unknown organization, or a database that does not answer.
pub(crate) async fn list(
    config: &Config,
    organization: Option<OrganizationId>,
    output: Output,
) -> Result<(), CommandError> {
    let services = wiring::services(config, wiring::link_base(config, config.listen)).await?;
    let keys_result = operator::list_keys(&services, organization).await;
    let what = organization.map_or("list the keys".to_owned(), |id| format!("list the keys of {id}"));
    let keys = keys_result.map_err(to_command_error(what))?;
    let of_owner = |words: [String; 2], rest: Vec<String>| match organization {
        Some(_) => rest,
        None => [words.to_vec(), rest].concat(),
    };
    let heading = ["ID", "NAME", "ENVIRONMENT", "LEVEL", "ENDS WITH", "SCOPES", "LAST USED", "STATE"];
    let owner = ["ORGANIZATION", "ORGANIZATION'S NAME"].map(str::to_owned);
    let mut rows = vec![of_owner(owner, heading.map(str::to_owned).to_vec())];
    let now = SystemClock.now();
    rows.extend(keys.iter().map(|key| {
        of_owner([key.organization_id.to_string(), key.organization_name.clone()], row(&key.key, now))
    }));
    output.say(&json!({"data": keys}), &table(&rows))
}

/// Revokes a key.
///
/// # Errors
/// An unknown key, one that was revoked before, or a database that does not answer.
pub(crate) async fn revoke(config: &Config, key: KeyId, output: Output) -> Result<(), CommandError> {
    let services = wiring::services(config, wiring::link_base(config, config.listen)).await?;
    let revocation = operator::revoke_key(&services, key).await;
    revocation.map_err(to_command_error(format!("revoke {key}")))?;
    output.say(
        &json!({"id": key, "revoked": true}),
        &format!("Revoked {key}. All instances reject it within a second."),
    )
}

fn row(key: &ApiKey, now: Timestamp) -> Vec<String> {
    let or_never = |at: Option<Timestamp>| at.map_or("never".to_owned(), |time| time.to_string());
    let state = match (key.revoked_at, key.expires_at, key.link_expires_at) {
        (Some(at), _, _) => format!("revoked {at}"),
        (None, Some(at), _) if at <= now => format!("expired {at}"),
        (None, _, Some(at)) => format!("link not opened, until {at}"),
        (None, Some(at), None) => format!("expires {at}"),
        (None, None, None) => "good".to_owned(),
    };
    vec![
        key.id.to_string(),
        key.name.clone(),
        key.environment.word().to_owned(),
        key.access_level.word().to_owned(),
        key.last4.clone(),
        key.scopes.words().join(","),
        or_never(key.last_used_at),
        state,
    ]
}

/// Parses a comma-separated list of scopes.
///
/// # Errors
/// [`CommandError::Argument`] for an unknown scope or an empty list.
pub(crate) fn scopes(text: &str) -> Result<Permissions, CommandError> {
    let words = text.split(',').map(str::trim).filter(|text| !text.is_empty());
    let scope_form = || {
        let names = Permission::words();
        format!("expected * or some of {}", names.join(", "))
    };
    let wrong = || CommandError::Argument { argument: "--scopes", value: text.to_owned(), wanted: scope_form() };
    Permissions::from_words(words).filter(|permissions| *permissions != Permissions::NONE).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_parsed_from_a_comma_separated_list() {
        let two = Permissions::NONE.with(Permission::ObservationsRead).with(Permission::EmployeesWrite);
        assert_eq!(scopes("observations:read, employees:write").unwrap(), two);
        assert_eq!(scopes("*").unwrap(), Permissions::ALL);
        for bad in ["", ",", "observations", "observations:read;employees:write"] {
            assert!(scopes(bad).unwrap_err().to_string().contains("observations:read"), "{bad}");
        }
    }
}
