//! `candor rekey`: re-encrypts stored secrets with the first key of the ring.

use candor_service::usecases::webhooks;
use serde_json::json;

use crate::error::to_command_error;
use crate::wiring;
use candor_cli::error::{CommandError, CommandFailure};
use candor_cli::output::Output;
use candor_settings::Config;

/// Failure to open the secrets of a webhook, identity provider or running erasure: they were sealed with a key that is
/// not in the ring.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot open the secrets of {0}: none of the keys in CANDOR_MASTER_KEY encrypted them; append the key that \
     encrypted them to CANDOR_MASTER_KEY, or delete this webhook or identity provider, and run this command again"
)]
struct MissingKeyError(String);

impl CommandFailure for MissingKeyError {}

/// Encrypts the secrets of all webhooks, identity providers and running erasures with the first key of the ring. With
/// `accept_loss`, secrets that no key decrypts are skipped and counted.
///
/// # Errors
/// A wrong master key; [`MissingKeyError`] if no key of the ring opens the secrets of a webhook, identity provider or
/// running erasure; a database that does not answer.
pub(crate) async fn run(config: &Config, accept_loss: bool, output: Output) -> Result<(), CommandError> {
    let base = wiring::link_base(config, config.listen);
    let rekey_result = if accept_loss {
        webhooks::rekey_accepting_loss(&*wiring::services_with_any_key(config, base).await?).await
    } else {
        webhooks::rekey(&*wiring::services(config, base).await?).await
    };
    let counts = rekey_result.map_err(|error| match error {
        webhooks::UnsealableError::NoKey(webhook) => MissingKeyError(webhook.to_string()).into(),
        webhooks::UnsealableError::NoProviderKey(provider) => MissingKeyError(provider.to_string()).into(),
        webhooks::UnsealableError::NoErasureKey(erasure) => MissingKeyError(erasure.to_string()).into(),
        webhooks::UnsealableError::Failed(error) => {
            to_command_error("encrypt the secrets of webhooks, identity providers and erasures")(error)
        }
    })?;
    let mut human_text = format!(
        "The first key of CANDOR_MASTER_KEY encrypts the secrets of all webhooks, identity providers and running erasures: {} were \
         encrypted again, {} already were.\nKeep the other keys for another 24 hours: they encrypt the responses that are stored for \
         retries.",
        counts.rekeyed, counts.unchanged
    );
    if counts.lost > 0 {
        human_text.push_str(&format!(
            "\n{} webhooks, identity providers or erasures have a secret that no key opens. Nothing is sent to these webhooks until \
             their secret is rotated: PATCH /v1/webhooks/ID with {{\"rotate_secret\": true}}. The log names the identity \
             providers, which need their client secret again, and the erasures, which no longer search for the address of \
             their person.",
            counts.lost
        ));
    }
    output
        .say(&json!({"rekeyed": counts.rekeyed, "unchanged": counts.unchanged, "lost": counts.lost}), &human_text)
}
