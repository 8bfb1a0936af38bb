//! `candor rekey`: moves what is kept sealed to the first key of the master key's ring.

use candor_service::webhooks;
use serde_json::json;

use crate::config::Config;
use crate::error::Error;
use crate::output::Output;
use crate::wiring;

/// Seals the secrets of all webhooks with the first key of the ring.
///
/// # Errors
/// [`Error::NoKeyFor`] the secrets of a webhook; a database that does not answer.
pub(crate) async fn run(config: &Config, output: Output) -> Result<(), Error> {
    let shell = wiring::shell(config, wiring::link_base(config, config.listen)).await?;
    let done = webhooks::rekey(&shell).await.map_err(|error| match error {
        webhooks::Unsealable::NoKey(webhook) => Error::NoKeyFor(webhook),
        webhooks::Unsealable::Failed(error) => Error::refused("seal the secrets of webhooks anew")(error),
    })?;
    let people = format!(
        "The first key of CANDOR_MASTER_KEY seals the secrets of all webhooks: {} were sealed anew, {} were before.\n\
         Keep the other keys for another 24 hours: the answers kept for retries were sealed with them.",
        done.rekeyed, done.unchanged
    );
    output.say(&json!({"rekeyed": done.rekeyed, "unchanged": done.unchanged}), &people)
}
