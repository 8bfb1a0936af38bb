//! Puts the parts together: store, vault and shell.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use candor_domain::secret::Secret;
use candor_domain::webhook::{Target, Verdict};
use candor_port_clock::{Ids, SystemClock, SystemIds};
use candor_port_events::{Attempt, FailureReason, Outcome, Request, WebhookTransport};
use candor_service::vault::{self, Vault};
use candor_service::{Settings, Shell};
use candor_webhooks::Sender;

use crate::config::{Config, DatabaseUrl};
use crate::error::Error;
use crate::{private_file, store};

/// The generated master key's file in the data folder.
const MASTER_KEY_FILE: &str = "master.key";

/// Everything that the use cases of a command need, on the configured store. It sends nothing.
///
/// # Errors
/// A database that does not answer or whose schema is old; a master key that is missing or unreadable.
pub(crate) async fn shell(config: &Config, public_url: String) -> Result<Arc<Shell>, Error> {
    shell_with(config, public_url, Arc::new(Nobody)).await
}

/// Everything that use cases need, together with what it sends webhooks through.
///
/// # Errors
/// Those of [`shell`]; a system without name servers.
pub(crate) async fn shell_and_sender(config: &Config, public_url: String) -> Result<(Arc<Shell>, Sender), Error> {
    let trusted = config.webhooks_trusted_targets.clone();
    let sender = Sender::new(candor_webhooks::Settings { trusted, ..candor_webhooks::Settings::default() })?;
    Ok((shell_with(config, public_url, Arc::new(sender.clone())).await?, sender))
}

async fn shell_with(
    config: &Config,
    public_url: String,
    receivers: Arc<dyn WebhookTransport>,
) -> Result<Arc<Shell>, Error> {
    let ids = Arc::new(SystemIds::default());
    let ring = master_key(config, &*ids)?;
    let vault = Vault::parse(ring.reveal()).map_err(|_| Error::MasterKeyFile(config.data_dir.join(MASTER_KEY_FILE)))?;
    let store = store::open(config).await?;
    Ok(Arc::new(Shell::new(store, Arc::new(SystemClock), ids, vault, receivers, Settings { public_url })))
}

/// Stands where webhooks would go for commands, which need neither name servers nor certificates.
struct Nobody;

#[async_trait]
impl WebhookTransport for Nobody {
    async fn judge(&self, _: &Target) -> Verdict {
        Verdict::Unresolvable
    }

    async fn send(&self, _: Request) -> Attempt {
        let outcome = Outcome::Failed(FailureReason::Unresolvable);
        Attempt { response_status: 0, duration: Duration::ZERO, outcome }
    }
}

/// The base of links: what the operator says, else where this process listens.
pub(crate) fn link_base(config: &Config, listening: SocketAddr) -> String {
    config.public_url.clone().unwrap_or_else(|| local_url(listening))
}

/// How this machine reaches a listener of its own.
pub(crate) fn local_url(listening: SocketAddr) -> String {
    if listening.ip().is_unspecified() {
        format!("http://localhost:{}", listening.port())
    } else {
        format!("http://{listening}")
    }
}

/// The configured ring of keys. The embedded database gets one beside it the first time.
fn master_key(config: &Config, ids: &dyn Ids) -> Result<Secret, Error> {
    if let Some(ring) = &config.master_key {
        return Ok(ring.clone());
    }
    if matches!(config.database, DatabaseUrl::Postgres(_)) {
        return Err(Error::NoMasterKey);
    }
    private_file::create_folder(&config.data_dir).map_err(Error::io("make the folder", &config.data_dir))?;
    let path = config.data_dir.join(MASTER_KEY_FILE);
    let text = match private_file::read(&path).map_err(Error::io("read", &path))? {
        Some(text) => text,
        None => {
            let made = vault::generate(ids)
                .map_err(|it| Error::Defect { what: "make a master key", reason: it.to_string() })?;
            private_file::create(&path, &format!("{made}\n")).map_err(Error::io("write", &path))?
        }
    };
    Ok(Secret::new(text.trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_where_this_machine_listens() {
        for (listening, url) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("0.0.0.0:80", "http://localhost:80"),
            ("[::]:80", "http://localhost:80"),
            ("[::1]:8080", "http://[::1]:8080"),
        ] {
            assert_eq!(local_url(listening.parse().unwrap()), url);
        }
    }

    #[test]
    fn a_master_key_is_made_once_for_the_embedded_database_and_never_for_a_server() {
        let folder = std::env::temp_dir().join(format!("candor-wiring-{}", std::process::id()));
        let load = |url: &str| {
            let flags = vec![
                (crate::config::Setting::DataDir, folder.display().to_string()),
                (crate::config::Setting::DatabaseUrl, url.to_owned()),
            ];
            Config::load(None, Vec::new(), flags).unwrap()
        };
        let ids = SystemIds::default();
        let first = master_key(&load("sqlite://x.db"), &ids).unwrap();
        assert_eq!(master_key(&load("sqlite://x.db"), &ids).unwrap(), first);
        assert!(Vault::parse(first.reveal()).is_ok());
        assert!(matches!(master_key(&load("postgres://x/y"), &ids), Err(Error::NoMasterKey)));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
