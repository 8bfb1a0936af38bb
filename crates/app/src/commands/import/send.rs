//! Sends the parts in order, and retries when the service is busy or unreachable.

use std::io::ErrorKind;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use candor_domain::csv::Part;
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::Value;
use ureq::Agent;
use ureq::http::Response;

use super::progress::Progress;
use crate::cli::Import;
use crate::error::Error;
use crate::outgoing_tls;

/// Time limit for one request.
const PATIENCE: Duration = Duration::from_secs(120);
/// Time limit for connecting to the service.
const CONNECT: Duration = Duration::from_secs(20);
/// Maximum number of attempts per part.
const ATTEMPTS: u32 = 8;
/// Maximum number of waits for the quota. Uploads are counted per minute, so this is up to an hour.
const WAITS: u32 = 60;
/// Longest `Retry-After` that is honoured.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// Pause before the first retry; it doubles with each attempt.
const PAUSE: Duration = Duration::from_millis(250);
/// Longest pause between attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Maximum size of an answer, which has an error for every row, or a plan.
const MAX_ANSWER_BYTES: u64 = 64 * 1024 * 1024;

/// URL and key of the upload.
pub(super) struct Target {
    url: String,
    key: String,
}

impl Target {
    pub(super) fn new(import: &Import, key: String) -> Result<Self, Error> {
        let base = import.url.trim_end_matches('/');
        if !base.starts_with("http://") && !base.starts_with("https://") {
            let wanted = "expected the address of a service, such as https://candor.example".to_owned();
            return Err(Error::Argument { argument: "--url", value: import.url.clone(), wanted });
        }
        let base = base.strip_suffix("/v1").unwrap_or(base);
        let mut query = Vec::new();
        if import.dry_run {
            query.push("dry_run=true".to_owned());
        }
        if import.clear_empty {
            query.push("empty=clear".to_owned());
        }
        if let Some(connector) = &import.connector {
            query.push(format!("connector_id={connector}"));
        }
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        Ok(Self { url: format!("{base}/v1/employees/csv{query}"), key })
    }
}

/// A client of the service.
pub(super) struct Connection {
    target: Target,
    agent: Agent,
    /// Random prefix of this run's idempotency keys, by which a repeated part takes effect only once.
    run: String,
}

/// Result of one attempt.
enum SendResult {
    Answer(Value),
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
    pub(super) fn new(target: Target) -> Result<Self, Error> {
        let mut random = [0; 12];
        let filled = SystemRandom::new().fill(&mut random);
        filled.map_err(|error| Error::Defect { what: "make an idempotency key", reason: error.to_string() })?;
        let config = Agent::config_builder().http_status_as_error(false);
        let config = config.timeout_connect(Some(CONNECT)).timeout_global(Some(PATIENCE));
        let config = config.tls_config(outgoing_tls::trusting_the_system());
        Ok(Self { target, agent: config.build().into(), run: URL_SAFE_NO_PAD.encode(random) })
    }

    /// Returns the URL that parts are sent to, without the query.
    pub(super) fn address(&self) -> &str {
        self.target.url.split('?').next().unwrap_or_default()
    }

    /// Sends a part until it is answered.
    ///
    /// # Errors
    /// The reason of a permanent failure, or of the last attempt.
    pub(super) fn send(&self, part: &Part, number: usize, progress: &Progress) -> Result<Value, String> {
        let (mut attempts, mut waits, mut was_open) = (0, 0, false);
        loop {
            progress.sending(number);
            let came = self.attempt(part, number);
            if !matches!(came, SendResult::Answer(_)) {
                let is_open = matches!(&came, SendResult::Again(failure) if failure.is_open);
                progress.not_done(number, was_open, is_open);
                was_open |= is_open;
            }
            match came {
                SendResult::Answer(answer) => return Ok(answer),
                SendResult::Refused(reason) => return Err(reason),
                SendResult::Wait(time) if waits < WAITS => {
                    waits += 1;
                    progress.note("the quota of uploads is used up; waiting");
                    count_down(time, |left| progress.show(format!("waiting {left} s for the quota")));
                }
                SendResult::Wait(_) => return Err("the quota stays used up".to_owned()),
                SendResult::Again(Failure { reason, wait, .. }) => {
                    attempts += 1;
                    if attempts >= ATTEMPTS {
                        return Err(reason);
                    }
                    progress.note(&format!("no valid response from {}: {reason}; retrying", self.address()));
                    let pause = (PAUSE * 2_u32.saturating_pow(attempts)).min(LONGEST_PAUSE);
                    let again = format!("attempt {} of {ATTEMPTS}", attempts + 1);
                    count_down(wait.unwrap_or(pause) + jitter(), |left| {
                        progress.show(format!("{again} in {left} s"))
                    });
                    progress.show(again);
                }
            }
        }
    }

    fn attempt(&self, part: &Part, number: usize) -> SendResult {
        let request = self.agent.post(&self.target.url);
        let request = request.header("Authorization", format!("Bearer {}", self.target.key));
        let request = request.header("Content-Type", "text/csv; charset=utf-8");
        let request = request.header("Idempotency-Key", format!("import-{}-{number}", self.run));
        let mut response = match request.send(&part.bytes[..]) {
            Ok(response) => response,
            Err(error) => {
                if let Some(reason) = outgoing_tls::rejected_certificate(&error) {
                    return SendResult::Refused(untrusted(&reason));
                }
                return SendResult::Again(Failure {
                    is_open: has_connected(&error),
                    reason: said(&error),
                    wait: None,
                });
            }
        };
        let (status, wait) = (response.status().as_u16(), retry_after(&response));
        let body = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_string();
        let body = match body {
            Ok(body) => body,
            Err(error) => return SendResult::Again(Failure { reason: said(&error), wait: None, is_open: true }),
        };
        let answer: Value = serde_json::from_str(&body).unwrap_or_default();
        let message = answer["error"]["message"].as_str().unwrap_or("no reason given").trim_end_matches('.');
        match status {
            200 if answer["data"].is_object() => SendResult::Answer(answer),
            429 => SendResult::Wait(wait.unwrap_or(LONGEST_PAUSE)),
            408 | 500 | 502 | 503 | 504 => {
                SendResult::Again(Failure { reason: format!("{status}: {message}"), wait, is_open: true })
            }
            200 => SendResult::Refused("the response is not from a Candor service".to_owned()),
            _ => {
                let details = &answer["error"]["details"];
                let details = if details.is_null() { String::new() } else { format!(" {details}") };
                SendResult::Refused(format!("{status}: {message}{details}"))
            }
        }
    }
}

/// Returns `true` if a failed request may have reached the service.
fn has_connected(error: &ureq::Error) -> bool {
    use ureq::{Error, Timeout};
    if let Error::Io(error) = error {
        return error.kind() != ErrorKind::ConnectionRefused;
    }
    !matches!(
        error,
        Error::HostNotFound | Error::ConnectionFailed | Error::Timeout(Timeout::Resolve | Timeout::Connect)
    )
}

/// Returns the error message for a rejected certificate, with the remedy.
fn untrusted(reason: &str) -> String {
    format!(
        "its certificate is not accepted: {reason}; add the authority that issued it to those of this machine, or name \
         a file with it in SSL_CERT_FILE"
    )
}

/// Returns a short reason of a failed request.
fn said(error: &ureq::Error) -> String {
    if let ureq::Error::Io(error) = error { error.to_string() } else { error.to_string() }
}

fn retry_after<T>(response: &Response<T>) -> Option<Duration> {
    let seconds = response.headers().get("retry-after")?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
}

#[expect(clippy::disallowed_methods, reason = "the service asked for patience, and this thread does nothing else")]
fn pause_for(time: Duration) {
    std::thread::sleep(time);
}

/// Waits, and calls `tell` every second with the seconds that are left.
fn count_down(time: Duration, tell: impl Fn(u64)) {
    for (left, step) in seconds_of(time) {
        tell(left);
        pause_for(step);
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
        let told: Vec<_> = seconds_of(2 * second + half).collect();
        assert_eq!(told, [(3, second), (2, second), (1, half)]);
        assert_eq!(seconds_of(2 * second).collect::<Vec<_>>(), [(2, second), (1, second)]);
        assert_eq!(seconds_of(Duration::ZERO).count(), 0);
    }

    #[test]
    fn connect_failure_counts_as_nothing_received() {
        let io = |kind: ErrorKind| ureq::Error::Io(kind.into());
        for (error, has_got) in [
            (io(ErrorKind::ConnectionRefused), false),
            (ureq::Error::HostNotFound, false),
            (ureq::Error::Timeout(ureq::Timeout::Connect), false),
            (io(ErrorKind::ConnectionReset), true),
            (ureq::Error::Timeout(ureq::Timeout::RecvResponse), true),
        ] {
            assert_eq!(has_connected(&error), has_got, "{error}");
        }
    }
}
