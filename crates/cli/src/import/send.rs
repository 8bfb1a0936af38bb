//! Sends the parts in order, and retries when the service is busy or unreachable.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use candor_client::{ApiError, Candor, Error as ClientError, Method, RawRequest, StatusCode};
use candor_people_csv::Part;
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Value, json};

use super::progress::Progress;
use crate::arguments::Import;
use crate::error::CommandError;
use crate::remote::Account;

/// Time limit for one request.
const PATIENCE: Duration = Duration::from_secs(120);
/// Maximum number of attempts per part.
const ATTEMPTS: u32 = 8;
/// Maximum number of waits for the quota. Uploads are counted per minute, so this is up to an hour.
const WAITS: u32 = 60;
/// Longest `Retry-After` that is honoured.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// Half of the pause before the first retry. The pause doubles with each attempt.
const PAUSE: Duration = Duration::from_millis(250);
/// Longest pause between attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
const CSV: &str = "text/csv; charset=utf-8";

/// A client of the service, with the options of the upload.
pub(super) struct Connection {
    candor: Candor,
    /// URL of the operation, without the query.
    address: String,
    query: Vec<(&'static str, String)>,
    /// Random prefix of this run's idempotency keys, by which a repeated part takes effect only once.
    run: String,
}

/// Result of one attempt.
enum SendResult {
    Response(Value),
    Wait(Duration),
    Again(Failure),
    /// Permanent failure with its reason; a retry is useless.
    Refused(String),
}

/// A failure that a later attempt may overcome.
struct Failure {
    reason: String,
    /// The delay that the service asked for.
    wait: Option<Duration>,
    /// `true` if the service may have received the part.
    is_open: bool,
}

impl Connection {
    /// Creates the client. Retries have longer pauses than those of the library, and the operator sees each one.
    ///
    /// # Errors
    /// See [`Account::client`].
    pub(super) fn new(import: &Import, account: &Account) -> Result<Self, CommandError> {
        let mut random = [0; 12];
        let fill_result = SystemRandom::new().fill(&mut random);
        fill_result.map_err(|error| CommandError::Defect {
            what: "create an idempotency key",
            reason: error.to_string(),
        })?;
        let candor = account.client_with("candor-import", |builder| builder.timeout(PATIENCE).max_retries(0))?;
        let mut query = Vec::new();
        if import.dry_run {
            query.push(("dry_run", "true".to_owned()));
        }
        if import.clear_empty {
            query.push(("empty", "clear".to_owned()));
        }
        query.extend(import.ignore_columns.iter().map(|name| ("ignore_columns", name.clone())));
        if let Some(connector) = &import.connector {
            query.push(("connector_id", connector.to_string()));
        }
        let base = account.url().trim_end_matches('/').trim_end_matches("/v1");
        let address = format!("{base}/v1/employees/csv");
        Ok(Self { candor, address, query, run: URL_SAFE_NO_PAD.encode(random) })
    }

    /// Returns the URL that parts are sent to, without the query.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Sends a part and returns the answer. Retries after failures that a later attempt may overcome.
    ///
    /// # Errors
    /// The reason of a permanent failure, or of the last attempt.
    pub(super) async fn send(&self, part: &Part, number: usize, progress: &Progress) -> Result<Value, String> {
        let (mut attempts, mut waits, mut was_open) = (0, 0, false);
        loop {
            progress.record_sending(number);
            let send_result = self.attempt(part, number).await;
            if !matches!(send_result, SendResult::Response(_)) {
                let is_open = matches!(&send_result, SendResult::Again(failure) if failure.is_open);
                progress.not_done(number, was_open, is_open);
                was_open |= is_open;
            }
            match send_result {
                SendResult::Response(response) => return Ok(response),
                SendResult::Refused(reason) => return Err(reason),
                SendResult::Wait(time) if waits < WAITS => {
                    waits += 1;
                    progress.note("the quota of uploads is used up; waiting");
                    count_down(time, |left| progress.show(format!("waiting {left} s for the quota"))).await;
                }
                SendResult::Wait(_) => return Err("the quota of uploads stays used up".to_owned()),
                SendResult::Again(Failure { reason, wait, .. }) => {
                    attempts += 1;
                    if attempts >= ATTEMPTS {
                        return Err(reason);
                    }
                    progress.note(&format!("no valid response from {}: {reason}; retrying", self.address));
                    let pause = (PAUSE * 2_u32.saturating_pow(attempts)).min(LONGEST_PAUSE);
                    let attempt_text = format!("attempt {} of {ATTEMPTS}", attempts + 1);
                    let wait = wait.unwrap_or(pause) + jitter();
                    count_down(wait, |left| progress.show(format!("{attempt_text} in {left} s"))).await;
                    progress.show(attempt_text);
                }
            }
        }
    }

    async fn attempt(&self, part: &Part, number: usize) -> SendResult {
        let key = format!("import-{}-{number}", self.run);
        let request = self.candor.request(Method::POST, "/employees/csv").idempotency_key(key);
        let add = |request: RawRequest, (name, value): &(&str, String)| request.query(*name, value);
        let request = self.query.iter().fold(request, add).body(CSV, part.bytes.clone());
        match request.send().await.and_then(|response| response.json::<Value>()) {
            Ok(response) if response.data["data"].is_object() => SendResult::Response(response.data),
            Ok(_) | Err(ClientError::Unreadable(_)) => {
                SendResult::Refused("the response is not from a Candor service".to_owned())
            }
            Err(error) => judge_failure(&error),
        }
    }
}

/// Decides if a failed attempt is repeated.
fn judge_failure(error: &ClientError) -> SendResult {
    let wait = error.retry_after().map(|time| time.min(LONGEST_WAIT));
    let reason = error.api().map_or_else(|| error.to_string(), reason);
    if error.is_certificate_rejected() {
        return SendResult::Refused(explain_untrusted(&reason));
    }
    let status = error.api().map(|error| error.status);
    match status {
        Some(StatusCode::TOO_MANY_REQUESTS) => SendResult::Wait(wait.unwrap_or(LONGEST_PAUSE)),
        // After a 500, the part may have been imported. The idempotency key makes a retry safe.
        Some(StatusCode::INTERNAL_SERVER_ERROR) => SendResult::Again(Failure { reason, wait, is_open: true }),
        Some(_) | None if error.is_transient() => {
            SendResult::Again(Failure { reason, wait, is_open: !error.is_unsent() })
        }
        Some(_) | None => SendResult::Refused(reason),
    }
}

/// Returns status, message and details of an error response in one line.
fn reason(error: &ApiError) -> String {
    let details = if error.details.is_empty() { String::new() } else { format!(" {}", json!(error.details)) };
    format!("{}: {}{details}", error.status.as_u16(), error.message.trim_end_matches('.'))
}

/// Returns the error message for a rejected certificate, with the remedy.
fn explain_untrusted(reason: &str) -> String {
    format!(
        "the certificate of the service is not accepted: {reason}; add the authority that issued the certificate to \
         the authorities of this machine, or name a file with the authority in SSL_CERT_FILE"
    )
}

/// Waits, and calls `tell` every second with the seconds that are left.
async fn count_down(time: Duration, tell: impl Fn(u64)) {
    for (left, step) in seconds_of(time) {
        tell(left);
        tokio::time::sleep(step).await;
    }
}

/// Splits a wait into steps of one second, each with the seconds left at its start. The last step may be
/// shorter.
fn seconds_of(time: Duration) -> impl Iterator<Item = (u64, Duration)> {
    let whole = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    let step = move |left: u64| time.saturating_sub(Duration::from_secs(whole - left)).min(Duration::from_secs(1));
    (1..=whole).rev().map(move |left| (left, step(left)))
}

/// Returns a random delay, so that concurrent imports do not retry simultaneously.
fn jitter() -> Duration {
    let mut byte = [0];
    let _ = SystemRandom::new().fill(&mut byte);
    Duration::from_millis(byte[0].into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_wait_is_reported_every_second() {
        let (second, half) = (Duration::from_secs(1), Duration::from_millis(500));
        let reported_seconds: Vec<_> = seconds_of(2 * second + half).collect();
        assert_eq!(reported_seconds, [(3, second), (2, second), (1, half)]);
        assert_eq!(seconds_of(2 * second).collect::<Vec<_>>(), [(2, second), (1, second)]);
        assert_eq!(seconds_of(Duration::ZERO).count(), 0);
    }
}
