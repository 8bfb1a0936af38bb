//! Errors of the master key and of the transports.

use std::path::PathBuf;

use candor_service::context::master_key::MasterKeyError;

use crate::error::to_command_error;
use candor_cli::error::{CommandError, CommandFailure};
use candor_settings::Config;

/// Failure to connect the parts of the service.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WiringError {
    /// `CANDOR_MASTER_KEY` is missing. On PostgreSQL no key is generated, because all instances need the same
    /// one.
    #[error(
        "CANDOR_MASTER_KEY is not set: with PostgreSQL every instance needs the same key; create one with: \
         echo \"k1:$(head -c 32 /dev/urandom | base64)\""
    )]
    NoMasterKey,
    /// The file of the generated master key does not contain a key ring.
    #[error("{} does not hold a key ring; restore the file from a backup: without the keys of the file, the \
             values that these keys encrypted cannot be decrypted", .0.display())]
    MasterKeyFile(PathBuf),
    /// The file of the generated master key is missing, although its database exists.
    #[error(
        "{} is missing, and {database} is not empty: a new key would not decrypt the secrets of the \
         database; restore the file, or set CANDOR_MASTER_KEY to the key of the file; if the key is lost, set \
         CANDOR_MASTER_KEY to a new key and run `candor rekey --accept-loss`", .path.display()
    )]
    MasterKeyGone {
        /// Path of the missing file.
        path: PathBuf,
        /// The database, with secrets masked.
        database: String,
    },
    /// The database was sealed with another master key.
    #[error(
        "the master key does not fit {database}: {reason}; set CANDOR_MASTER_KEY to the key ring that encrypted \
         the secrets of the database, behind a new key if you want one; if the old key is lost, run `candor rekey \
         --accept-loss`, which gives up the values that the old key encrypted"
    )]
    WrongMasterKey {
        /// The database, with secrets masked.
        database: String,
        /// Comparison of the keys in the database with those in the ring.
        reason: String,
    },
    /// The webhook transport could not be set up.
    #[error("cannot send webhooks: {0}; check the name servers and the certificates of this machine")]
    Webhooks(candor_webhooks::SetupError),
    /// The client of identity providers could not be set up.
    #[error("cannot call identity providers: {0}; check the name servers and the certificates of this machine")]
    Identity(candor_identity::SetupError),
    /// TLS for mails could not be set up.
    #[error("{0}; check the certificates of this machine")]
    Mail(candor_mail::TlsSetupError),
}

impl WiringError {
    /// Converts a master key mismatch into an error that names the database.
    pub(super) fn wrong_master_key(config: &Config) -> impl FnOnce(MasterKeyError) -> CommandError {
        let database = config.database.mask_password();
        move |error| match error {
            MasterKeyError::Lacking { .. } | MasterKeyError::NothingOpens { .. } => {
                Self::WrongMasterKey { database, reason: error.to_string() }.into()
            }
            MasterKeyError::Failed(error) => to_command_error("compare the master key with the database")(error),
        }
    }
}

impl CommandFailure for WiringError {}
