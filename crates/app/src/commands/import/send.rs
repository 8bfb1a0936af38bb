//! Sends one part after the other, and again when the service asks for patience.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use candor_domain::csv::Part;
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::Value;
use ureq::Agent;
use ureq::http::Response;

use crate::cli::Import;
use crate::error::Error;

/// How long one part may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often a part is sent before it is given up.
const ATTEMPTS: u32 = 8;
/// How often the service may say that the quota is used up: uploads are counted per minute, so this is many minutes.
const WAITS: u32 = 60;
/// The longest wait that the service may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// The first pause between attempts; it doubles.
const PAUSE: Duration = Duration::from_millis(250);
/// The longest pause between attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The largest answer: an error for every row, and a plan.
const MAX_ANSWER_BYTES: u64 = 64 * 1024 * 1024;

/// Where a file goes.
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

/// The way to the service.
pub(super) struct Door {
    target: Target,
    agent: Agent,
    /// Makes the idempotency keys of this run: a part that is sent again has its effect once.
    run: String,
}

/// What came of one attempt.
enum Came {
    Answer(Value),
    Wait(Duration),
    Again(String, Option<Duration>),
}

impl Door {
    pub(super) fn new(target: Target) -> Result<Self, Error> {
        let mut random = [0; 12];
        let filled = SystemRandom::new().fill(&mut random);
        filled.map_err(|it| Error::Defect { what: "make an idempotency key", reason: it.to_string() })?;
        let config = Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE));
        Ok(Self { target, agent: config.build().into(), run: URL_SAFE_NO_PAD.encode(random) })
    }

    /// Sends a part until it is answered.
    pub(super) fn send(&mut self, part: &Part, number: usize, say: &dyn Fn(&str)) -> Result<Value, Error> {
        let (mut attempts, mut waits) = (0, 0);
        loop {
            match self.attempt(part, number)? {
                Came::Answer(answer) => {
                    say("");
                    return Ok(answer);
                }
                Came::Wait(time) if waits < WAITS => {
                    waits += 1;
                    say(&format!("waiting {} s for the quota", time.as_secs()));
                    pause_for(time);
                }
                Came::Wait(_) => return Err(self.refused("the quota stays used up")),
                Came::Again(reason, time) => {
                    attempts += 1;
                    if attempts >= ATTEMPTS {
                        return Err(self.refused(&reason));
                    }
                    let pause = (PAUSE * 2_u32.saturating_pow(attempts)).min(LONGEST_PAUSE);
                    say(&format!("trying again: {reason}"));
                    pause_for(time.unwrap_or(pause) + jitter());
                }
            }
        }
    }

    fn attempt(&self, part: &Part, number: usize) -> Result<Came, Error> {
        let request = self.agent.post(&self.target.url);
        let request = request.header("Authorization", format!("Bearer {}", self.target.key));
        let request = request.header("Content-Type", "text/csv; charset=utf-8");
        let request = request.header("Idempotency-Key", format!("import-{}-{number}", self.run));
        let mut response = match request.send(&part.bytes[..]) {
            Ok(response) => response,
            Err(error) => return Ok(Came::Again(error.to_string(), None)),
        };
        let (status, wait) = (response.status().as_u16(), retry_after(&response));
        let body = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_string();
        let body = match body {
            Ok(body) => body,
            Err(error) => return Ok(Came::Again(error.to_string(), None)),
        };
        let answer: Value = serde_json::from_str(&body).unwrap_or_default();
        let message = answer["error"]["message"].as_str().unwrap_or("no reason given");
        match status {
            200 if answer["data"].is_object() => Ok(Came::Answer(answer)),
            429 => Ok(Came::Wait(wait.unwrap_or(LONGEST_PAUSE))),
            408 | 500 | 502 | 503 | 504 => Ok(Came::Again(format!("{status}: {message}"), wait)),
            200 => Err(self.refused("it does not answer as this service does")),
            _ => {
                let details = match &answer["error"]["details"] {
                    Value::Null => String::new(),
                    details => format!(" {details}"),
                };
                Err(self.refused(&format!("{status}: {message}{details}")))
            }
        }
    }

    fn refused(&self, reason: &str) -> Error {
        let url = self.target.url.split('?').next().unwrap_or_default().to_owned();
        Error::NotImported { url, reason: reason.trim_end_matches('.').to_owned() }
    }
}

fn retry_after<T>(response: &Response<T>) -> Option<Duration> {
    let seconds = response.headers().get("retry-after")?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
}

#[expect(clippy::disallowed_methods, reason = "the service asked for patience, and this thread does nothing else")]
fn pause_for(time: Duration) {
    std::thread::sleep(time);
}

/// Keeps several imports from trying again at the same moments.
fn jitter() -> Duration {
    let mut byte = [0];
    let _ = SystemRandom::new().fill(&mut byte);
    Duration::from_millis(byte[0].into())
}
