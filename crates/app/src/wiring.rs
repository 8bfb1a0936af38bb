//! Wiring of the service: store, encryption of secrets, transports of webhooks and mails, and use cases.

mod failure;
mod identity_client;
mod no_webhooks;
mod open_files;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use candor_domain::secret::Secret;
use candor_limits_redis::{RedisRateLimits, RedisServer};
use candor_mail::{SmtpSettings, SmtpTransport};
use candor_port_clock::{Ids, SystemClock, SystemIds};
use candor_port_events::WebhookTransport;
use candor_port_identity::{IdentityTransport, NoProviders};
use candor_port_limits::RateLimitStoreError;
use candor_port_storage::upkeep::MasterKey;
use candor_service::context::limits::Limits;
use candor_service::context::master_key;
use candor_service::context::provider_requests::BoundedTransport;
use candor_service::context::vault::{self, Vault};
use candor_service::{ServiceSettings, Services};
use candor_webhooks::Sender;

use crate::store;
use candor_cli::{error::CommandError, private_file};
use candor_settings::{Config, DatabaseUrl, RateLimiter, Smtp};
use failure::WiringError;
use identity_client::identity_client;
use no_webhooks::NoWebhooks;
pub(crate) use open_files::{OpenFile, open_files, open_folders};

/// Name of the generated master key's file in the data folder.
const MASTER_KEY_FILE: &str = "master.key";

/// Creates the services for a command. The database must exist; webhooks and mails are not sent.
///
/// # Errors
/// A database that does not exist, does not answer or has an old schema; a master key that is missing,
/// unreadable, or not the one that the database was sealed with.
pub(crate) async fn services(config: &Config, public_url: String) -> Result<Arc<Services>, CommandError> {
    store::expect_database(config)?;
    let parts = Dependencies::new(config).await?;
    parts.confirm_master_key(config, public_url, Arc::new(NoWebhooks)).await
}

/// Creates the services without checking the master key, for operators who have lost it.
///
/// # Errors
/// Those of [`services`], except for a wrong master key.
pub(crate) async fn services_with_any_key(
    config: &Config,
    public_url: String,
) -> Result<Arc<Services>, CommandError> {
    store::expect_database(config)?;
    Dependencies::new(config).await?.services(config, public_url, Arc::new(NoWebhooks)).await
}

/// Creates the services for a serving process, with access to identity providers, and the transport of its webhooks.
/// Logs a warning for each file or folder with secrets that other users can read.
///
/// # Errors
/// Those of [`services`]; a system without name servers.
pub(crate) async fn services_and_sender(
    config: &Config,
    public_url: String,
) -> Result<(Arc<Services>, Sender), CommandError> {
    let trusted_targets = config.webhooks_trusted_targets.clone();
    let sender = Sender::new(candor_webhooks::SenderSettings {
        trusted: trusted_targets,
        ..candor_webhooks::SenderSettings::default()
    })
    .map_err(WiringError::Webhooks)?;
    let (limits, providers) = (limits(config)?, identity_client(config)?);
    let parts = Dependencies { limits, providers, ..Dependencies::new(config).await? };
    for folder in open_folders(config) {
        tracing::warn!(
            folder = %folder.display(),
            "other users can read the folder of the database or of the master key: run `chmod 700` on it"
        );
    }
    for file in open_files(config) {
        let (path, remedy) = (file.path.display(), file.remedy);
        tracing::warn!(file = %path, "other users can read this file, which contains secrets: run `{remedy}`");
    }
    Ok((parts.confirm_master_key(config, public_url, Arc::new(sender.clone())).await?, sender))
}

/// Creates the rate limits, local or on a server.
///
/// # Errors
/// [`CommandError::Defect`] outside of a runtime.
fn limits(config: &Config) -> Result<Limits, CommandError> {
    let limits = match &config.rate_limiter {
        RateLimiter::Local => Limits::of_process(Arc::new(SystemClock)),
        RateLimiter::Redis(server) => {
            let defect = |error: RateLimitStoreError| CommandError::Defect {
                what: "count quotas",
                reason: error.to_string(),
            };
            Limits::shared_on(Arc::new(rate_limit_store(server).map_err(defect)?), Arc::new(SystemClock))
        }
    };
    Ok(limits.with_organization_factor(config.organization_quota_factor))
}

/// Creates the client of the server that counts the quotas of all instances.
///
/// # Errors
/// [`RateLimitStoreError`] outside of a runtime.
pub(crate) fn rate_limit_store(server: &RedisServer) -> Result<RedisRateLimits, RateLimitStoreError> {
    RedisRateLimits::new(server)
}

/// Creates the mail transport if a mail server is configured.
///
/// # Errors
/// [`WiringError::Mail`] if TLS cannot be set up.
pub(crate) fn mail_transport(config: &Config) -> Result<Option<SmtpTransport>, CommandError> {
    let settings =
        |smtp: &Smtp| SmtpSettings { server: smtp.server.clone(), from: smtp.from.clone(), authorities: vec![] };
    let transport = config.smtp.as_ref().map(|smtp| SmtpTransport::new(settings(smtp)));
    Ok(transport.transpose().map_err(WiringError::Mail)?)
}

/// Compares the master key with the key that the database was sealed with, before the database is changed. A new
/// embedded database gets a generated key. On PostgreSQL, the check is skipped without a configured key, because
/// migrations do not need one.
///
/// # Errors
/// [`WiringError::WrongMasterKey`]; a master key that is missing or unreadable, a database that does not answer.
pub(crate) async fn compare_master_key(config: &Config) -> Result<(), CommandError> {
    if has_no_master_key(config) {
        Ok(())
    } else {
        check_master_key(config, &Dependencies::new(config).await?.vault).await
    }
}

/// Compares the master key with the database without creating either. Returns `false` if there is no key yet,
/// which is valid only for a new embedded database.
///
/// # Errors
/// [`WiringError::NoMasterKey`]; [`WiringError::MasterKeyGone`]; those of [`compare_master_key`].
pub(crate) async fn examine_master_key(config: &Config) -> Result<bool, CommandError> {
    match (configured_vault(config)?, &config.database) {
        (Some(vault), _) => check_master_key(config, &vault).await.map(|()| true),
        (None, DatabaseUrl::Postgres(_)) => Err(WiringError::NoMasterKey.into()),
        (None, DatabaseUrl::Sqlite(database)) if store::is_empty(config, database).await? => Ok(false),
        (None, DatabaseUrl::Sqlite(_)) => Err(WiringError::MasterKeyGone {
            path: master_key_file(config),
            database: config.database.mask_password(),
        }
        .into()),
    }
}

/// Returns the configured key ring, or the one in the data folder; `None` if there is neither. Generates
/// nothing.
fn configured_vault(config: &Config) -> Result<Option<Vault>, CommandError> {
    let path = master_key_file(config);
    let text = match (&config.master_key, &config.database) {
        (Some(ring), _) => Some(ring.reveal().to_owned()),
        (None, DatabaseUrl::Postgres(_)) => None,
        (None, DatabaseUrl::Sqlite(_)) => private_file::read(&path).map_err(CommandError::io("read", &path))?,
    };
    let vault = text.map(|text| Vault::parse(text.trim_end()));
    Ok(vault.transpose().map_err(|_| WiringError::MasterKeyFile(path))?)
}

/// Relation of the master keys that sealed a backup to the configured ring.
pub(crate) enum SealingKeys {
    /// The ring contains every key that sealed the backup.
    Fit,
    /// No key ring is configured or stored.
    None,
    /// The ring lacks a key; the text names the keys of both sides.
    Others(String),
}

/// Compares the keys that sealed a backup with the configured ring.
///
/// # Errors
/// [`WiringError::MasterKeyFile`]; [`CommandError::Io`] if the file cannot be read.
pub(crate) fn examine_sealing_keys(config: &Config, sealed_by: &[MasterKey]) -> Result<SealingKeys, CommandError> {
    let Some(vault) = configured_vault(config)? else {
        return Ok(if sealed_by.is_empty() { SealingKeys::Fit } else { SealingKeys::None });
    };
    Ok(match master_key::examine(&vault, sealed_by) {
        Ok(()) => SealingKeys::Fit,
        Err(reason) => SealingKeys::Others(reason.to_string()),
    })
}

/// Returns the path of the generated master key.
pub(crate) fn master_key_file(config: &Config) -> PathBuf {
    config.data_dir.join(MASTER_KEY_FILE)
}

/// Compares the master key with the keys recorded in a migrated database, and records the master key there. Does
/// nothing without a key.
///
/// # Errors
/// Those of [`compare_master_key`].
pub(crate) async fn record_master_key(config: &Config) -> Result<(), CommandError> {
    if has_no_master_key(config) {
        Ok(())
    } else {
        services(config, link_base(config, config.listen)).await.map(drop)
    }
}

const fn has_no_master_key(config: &Config) -> bool {
    matches!(config.database, DatabaseUrl::Postgres(_)) && config.master_key.is_none()
}

async fn check_master_key(config: &Config, vault: &Vault) -> Result<(), CommandError> {
    master_key::examine(vault, &store::master_keys(config).await?).map_err(WiringError::wrong_master_key(config))
}

/// Dependencies of [`Services`] except the store.
struct Dependencies {
    ids: Arc<SystemIds>,
    vault: Vault,
    limits: Limits,
    providers: Arc<dyn IdentityTransport>,
}

impl Dependencies {
    async fn new(config: &Config) -> Result<Self, CommandError> {
        let ids = Arc::new(SystemIds::default());
        let ring = ring(config, &*ids).await?;
        let vault = Vault::parse(ring.reveal())
            .map_err(|_| WiringError::MasterKeyFile(config.data_dir.join(MASTER_KEY_FILE)))?;
        let limits = Limits::of_process(Arc::new(SystemClock));
        Ok(Self { ids, vault, limits, providers: Arc::new(NoProviders) })
    }

    /// Creates services after checking that the master key fits the database.
    async fn confirm_master_key(
        self,
        config: &Config,
        public_url: String,
        receivers: Arc<dyn WebhookTransport>,
    ) -> Result<Arc<Services>, CommandError> {
        if matches!(config.database, DatabaseUrl::Sqlite(_)) {
            // Opening the store migrates the schema, which must not happen with a wrong master key.
            check_master_key(config, &self.vault).await?;
        }
        let services = self.services(config, public_url, receivers).await?;
        master_key::confirm(&services).await.map_err(WiringError::wrong_master_key(config))?;
        Ok(services)
    }

    async fn services(
        self,
        config: &Config,
        public_url: String,
        receivers: Arc<dyn WebhookTransport>,
    ) -> Result<Arc<Services>, CommandError> {
        let Self { ids, vault, limits, providers } = self;
        let store = store::open(config).await?;
        let settings = ServiceSettings {
            max_subscriptions: config.webhooks_max_subscriptions,
            max_keys: config.organization_max_keys,
            notification_retention: config.notifications_retention,
            sends_mail: config.smtp.is_some(),
            mails_per_day: config.smtp_mails_per_day,
            has_console: config.console,
            ..ServiceSettings::with_public_url(public_url)
        };
        let mut services = Services::new(store, Arc::new(SystemClock), ids, vault, receivers, settings);
        services.limits = limits;
        services.identity_transport = Arc::new(BoundedTransport::new(providers));
        Ok(Arc::new(services))
    }
}

/// Returns the base of links: the configured public URL, or the listener's address.
pub(crate) fn link_base(config: &Config, listening: SocketAddr) -> String {
    config.public_url.clone().unwrap_or_else(|| local_url(listening))
}

/// Returns the URL by which this machine reaches its own listener.
pub(crate) fn local_url(listening: SocketAddr) -> String {
    if listening.ip().is_unspecified() {
        format!("http://localhost:{}", listening.port())
    } else {
        format!("http://{listening}")
    }
}

/// Requires a configured master key for a database on a server: all instances need the same key, so none of them
/// generates one.
///
/// # Errors
/// [`WiringError::NoMasterKey`].
pub(crate) const fn require_master_key(config: &Config) -> Result<(), WiringError> {
    if has_no_master_key(config) { Err(WiringError::NoMasterKey) } else { Ok(()) }
}

/// Returns the configured key ring, or the one in the data folder. Generates a ring only for a new embedded
/// database: the secrets of an existing database were sealed with another key.
async fn ring(config: &Config, ids: &dyn Ids) -> Result<Secret, CommandError> {
    if let Some(ring) = &config.master_key {
        return Ok(ring.clone());
    }
    let DatabaseUrl::Sqlite(database) = &config.database else { return Err(WiringError::NoMasterKey.into()) };
    private_file::create_folder(&config.data_dir)
        .map_err(CommandError::io("create the folder", &config.data_dir))?;
    let path = config.data_dir.join(MASTER_KEY_FILE);
    let read_key = || private_file::read(&path).map_err(CommandError::io("read", &path));
    let mut text = read_key()?;
    if text.is_none() && !store::is_empty(config, database).await? {
        // Another process that started at the same time may have created the database and the key by now.
        text = read_key()?;
        if text.is_none() {
            return Err(WiringError::MasterKeyGone { path, database: config.database.mask_password() }.into());
        }
    }
    let text = match text {
        Some(text) => text,
        None => {
            let new_key = vault::generate(ids).map_err(|error| CommandError::Defect {
                what: "create a master key",
                reason: error.to_string(),
            })?;
            private_file::create(&path, &format!("{new_key}\n")).map_err(CommandError::io("write", &path))?
        }
    };
    Ok(Secret::new(text.trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_public_url_is_the_listening_address() {
        for (listening, url) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("0.0.0.0:80", "http://localhost:80"),
            ("[::]:80", "http://localhost:80"),
            ("[::1]:8080", "http://[::1]:8080"),
        ] {
            assert_eq!(local_url(listening.parse().unwrap()), url);
        }
    }

    #[tokio::test]
    async fn master_key_is_generated_for_the_embedded_database_only() {
        let folder = std::env::temp_dir().join(format!("candor-wiring-{}", std::process::id()));
        let file = folder.join("x.db").display().to_string();
        let load = |url: &str| {
            let flags = vec![
                (candor_settings::Setting::DataDir, folder.display().to_string()),
                (candor_settings::Setting::DatabaseUrl, url.to_owned()),
            ];
            Config::load(None, Vec::new(), flags).unwrap().config
        };
        let ids = SystemIds::default();
        let first = ring(&load(&format!("sqlite://{file}")), &ids).await.unwrap();
        assert_eq!(ring(&load(&format!("sqlite://{file}")), &ids).await.unwrap(), first);
        assert!(Vault::parse(first.reveal()).is_ok());
        let error = ring(&load("postgres://x/y"), &ids).await.unwrap_err().to_string();
        assert!(error.starts_with("CANDOR_MASTER_KEY is not set"), "{error}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
