//! `candor dev`: a complete trial setup in one command.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use candor_domain::access::{AccessLevel, AllowedNetworks, Environment, Permissions};
use candor_domain::id::OrganizationId;
use candor_domain::organization::Organization;
use candor_domain::secret::Secret;
use candor_outbound::policy::TrustedNetwork;
use candor_port_storage::StorageExt;
use candor_service::Services;
use candor_service::usecases::operator::{self, NewKeyRequest};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::serve::greet;
use super::{console, sample};
use crate::cli::Role;
use crate::error::to_command_error;
use crate::lifecycle::RunningServer;
use candor_cli::error::{CommandError, CommandFailure};
use candor_cli::output::Output;
use candor_cli::private_file;
use candor_settings::{Config, DatabaseUrl, LogFormat, Setting, SettingOrigin, ShownSetting};

/// Name of the organization that the first start creates.
const ORGANIZATION: &str = "Demo";
/// Name of the API key that belongs to the link into the console.
const LINK_NAME: &str = "candor dev, console";
/// File in the data folder that keeps the key, so that every start prints the same key.
const KEY_FILE: &str = "dev-key.json";

/// Contents of the key file.
#[derive(Serialize, Deserialize)]
struct KeyFile {
    organization_id: String,
    key: String,
}

/// Failure of `candor dev` with a database on a server: it supports the embedded database only.
#[derive(Debug, thiserror::Error)]
#[error("candor dev runs on the embedded database only; use `candor migrate` and `candor serve` with {0}")]
struct DevStoreError(String);

impl CommandFailure for DevStoreError {}

/// Starts the service on the embedded database with sample data.
///
/// # Errors
/// [`DevStoreError`] with PostgreSQL, and every error that prevents a service from starting.
pub(crate) async fn run(config: &Config, output: Output) -> Result<(), CommandError> {
    if matches!(config.database, DatabaseUrl::Postgres(_)) {
        return Err(DevStoreError(config.database.mask_password()).into());
    }
    let settings = for_a_newcomer(config);
    let running = RunningServer::start(&settings, Role::All).await?;
    let (organization, key) = key(config, &running.services).await?;
    let url = running.url.clone().unwrap_or_default();
    let lines = shell_lines(&url, key.reveal());
    let console = if settings.console {
        let access = (Permissions::ALL, Environment::Live, AllowedNetworks::EVERYWHERE);
        Some(console::create(&running.services, organization, LINK_NAME, access).await?.url)
    } else {
        None
    };
    let console = console.as_ref().map(Secret::reveal);
    let object = json!({
        "base_url": format!("{url}/v1"),
        "console_url": console,
        "key": key.reveal(),
        "docs_url": format!("{url}/docs"),
        "curl": lines,
    });
    // With JSON log lines the answer is JSON too, so that log collectors can parse it.
    let output = Output { json: output.json || config.log_format == LogFormat::Json };
    greet(output, object, banner(&url, console, &lines));
    running.until_told_to_stop().await
}

/// Returns the settings for `candor dev`. Webhooks and requests to identity providers may go to this machine, because a
/// newcomer runs the receiver here. The console is on unless a setting switches it off. The process stops without a
/// drain delay.
fn for_a_newcomer(config: &Config) -> Config {
    let loopback = [
        IpNet::from(Ipv4Net::new_assert(Ipv4Addr::new(127, 0, 0, 0), 8)),
        IpNet::from(Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128)),
    ];
    let mut config = config.clone();
    let loopback = loopback.map(TrustedNetwork::from);
    config.webhooks_trusted_targets.extend(loopback);
    config.identity_trusted_networks.extend(loopback);
    config.drain_delay = Duration::ZERO;
    let is_set =
        |shown: &ShownSetting| shown.setting == Setting::Console && shown.origin != SettingOrigin::Default;
    config.console |= !config.shown.iter().any(is_set);
    config
}

/// Returns the organization and its key: the stored key, or a new one if no key is stored or the stored key is no
/// longer valid.
async fn key(config: &Config, services: &Arc<Services>) -> Result<(OrganizationId, Secret), CommandError> {
    let path = config.data_dir.join(KEY_FILE);
    let file_text = private_file::read(&path).map_err(CommandError::io("read", &path))?;
    let file_text: Option<KeyFile> = file_text.and_then(|text| serde_json::from_str(&text).ok());
    if let Some(key_file) = &file_text {
        let caller = services.auth.authenticate(&key_file.key).await;
        if let Some(caller) = caller.map_err(|error| to_command_error("read the key")(error.into()))? {
            return Ok((caller.tenant.organization, Secret::new(key_file.key.clone())));
        }
    }
    let organization_id = file_text.and_then(|local| local.organization_id.parse().ok());
    let (organization, key) = match organization_id {
        Some(organization) if exists(services, organization).await? => {
            (organization, make_key(services, organization).await?)
        }
        Some(_) | None => first_start(services).await?,
    };
    keep(&path, organization, &key)?;
    Ok((organization, key))
}

async fn exists(services: &Services, organization: OrganizationId) -> Result<bool, CommandError> {
    let organization_row = services
        .store
        .row::<Organization>(
            candor_domain::access::Tenant::live(organization),
            candor_domain::access::Tenant::live(organization).organization,
        )
        .await;
    organization_row
        .map(|organization| organization.is_some())
        .map_err(|error| to_command_error("read the organization")(error.into()))
}

async fn first_start(services: &Arc<Services>) -> Result<(OrganizationId, Secret), CommandError> {
    let creation = operator::create_organization(services, ORGANIZATION).await;
    let organization = creation.map_err(to_command_error("create the organization"))?;
    let key = make_key(services, organization).await?;
    sample::put(services, &key).await?;
    Ok((organization, key))
}

async fn make_key(services: &Services, organization: OrganizationId) -> Result<Secret, CommandError> {
    let order = NewKeyRequest {
        organization,
        name: "candor dev".to_owned(),
        scopes: Permissions::ALL,
        level: AccessLevel::Admin,
        environment: Environment::Live,
        employee: None,
        expires_at: None,
        reads_per_minute: None,
        writes_per_minute: None,
        connector: None,
        scim_per_minute: None,
        allowed_networks: AllowedNetworks::EVERYWHERE,
    };
    let creation = operator::create_key(services, order).await;
    Ok(creation.map_err(to_command_error("create the key"))?.1)
}

fn keep(path: &PathBuf, organization: OrganizationId, key: &Secret) -> Result<(), CommandError> {
    let key_file = KeyFile { organization_id: organization.to_string(), key: key.reveal().to_owned() };
    let text = serde_json::to_string(&key_file).unwrap_or_default();
    private_file::replace(path, &format!("{text}\n")).map_err(CommandError::io("write", path))
}

/// Headers of every printed `curl` command. The first printed line sets the shell variable `KEY`.
const HEADERS: &str = "-H \"Authorization: Bearer $KEY\" -H 'Content-Type: application/json'";

/// Returns commands to paste into a shell: base URL and key, a person, an observation about that person, a list
/// and a search. `sed` extracts the person's id.
fn shell_lines(url: &str, key: &str) -> [String; 5] {
    [
        format!("BASE={url}/v1 KEY={key}"),
        format!(
            "EMPLOYEE=$(curl -sS $BASE/employees {HEADERS} \\\n  \
             -d '{{\"email\": \"ada.'$(date +%s)'@example.com\", \"first_name\": \"Ada\", \"last_name\": \"Moreau\"}}' \\\n  \
             | sed -n 's/.*\"id\":\"\\(emp_[^\"]*\\)\".*/\\1/p'); echo $EMPLOYEE"
        ),
        format!(
            "curl -sS $BASE/observations {HEADERS} \\\n  \
             -d '{{\"employee_id\": \"'$EMPLOYEE'\", \"type\": \"strength\", \"observation\": \"Explained the release.\"}}'"
        ),
        "curl -sS \"$BASE/observations?expand=employee,attributes&limit=5\" -H \"Authorization: Bearer $KEY\""
            .to_owned(),
        "curl -sS \"$BASE/search?q=the%20rel\" -H \"Authorization: Bearer $KEY\"".to_owned(),
    ]
}

fn banner(url: &str, console: Option<&str>, lines: &[String; 5]) -> String {
    let [variables, employee, observation, list, search] = lines;
    let console = console.map(|link| format!("Console    {link}\n           (opens once, within 30 minutes; `candor console` prints another link)\n")).unwrap_or_default();
    format!(
        "Candor is ready. Stop it with Ctrl-C; the data stays.\n\n\
         Reference  {url}/docs\n{console}\n\
         To try it, paste this into another terminal:\n\n{variables}\n\n\
         Create an employee:\n\n{employee}\n\n\
         Record an observation about them:\n\n{observation}\n\n\
         List observations with their people and attributes:\n\n{list}\n\n\
         Search the texts by their words:\n\n{search}\n"
    )
}
