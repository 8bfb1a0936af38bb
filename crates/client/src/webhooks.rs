//! Webhooks: verifies a delivery by the signature of Standard Webhooks, and reads its event.

use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use reqwest::header::HeaderMap;
use ring::hmac;
use serde_json::Value;

use crate::generated::types::{Event, ThinEvent};
use crate::headers::now;

/// Largest difference between the time of a signature and the clock of this machine.
const TOLERANCE: Duration = Duration::from_secs(300);
const PREFIX: &str = "whsec_";
/// Base64 with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// An event in the payload form that its subscription selects.
#[derive(Clone, Debug, PartialEq)]
pub enum Delivered {
    /// An event with the resource itself, or a test.
    Full(Event),
    /// An event with only id, type and URL of the resource.
    Thin(Box<ThinEvent>),
}

/// The reason why a request is not accepted as a delivery of the service.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookError {
    /// The request lacks a header.
    #[error("The request has no header {0}.")]
    MissingHeader(&'static str),
    /// The time of the signature is malformed, or differs from the clock by more than five minutes.
    #[error(
        "The header webhook-timestamp is malformed, or more than 5 minutes from this machine's clock: check the clock."
    )]
    Expired,
    /// No signature of the request was made with one of the secrets.
    #[error("No signature of the delivery was made with one of the secrets.")]
    WrongSignature,
    /// The body is not an event.
    #[error("The body of the delivery is not an event: {0}.")]
    Unreadable(#[source] serde_json::Error),
    /// A secret is malformed. This is an error of the receiver, not of the request.
    #[error("A webhook secret is not valid: pass it as the service showed it, `whsec_…`.")]
    MalformedSecret,
}

/// Lookup of request headers by name, implemented for `HeaderMap` and for functions.
pub trait WebhookHeaders {
    /// Returns the value of a header; `name` is in lower case. `None` if the header is missing.
    fn value(&self, name: &str) -> Option<String>;
}

impl WebhookHeaders for HeaderMap {
    fn value(&self, name: &str) -> Option<String> {
        Some(self.get(name)?.to_str().ok()?.to_owned())
    }
}

impl<F: Fn(&str) -> Option<String>> WebhookHeaders for F {
    fn value(&self, name: &str) -> Option<String> {
        self(name)
    }
}

/// Verifies a delivery and returns its event.
///
/// `raw_body` is the body as it arrived, before any JSON is read. `headers` is a `HeaderMap` of the crate `http`,
/// or a function that returns the value of a header. `secrets` is the secret of the subscription, or several while
/// one is replaced.
///
/// # Errors
/// The reason why the request is not accepted. Answer the request with 400, but with 500 after
/// [`WebhookError::MalformedSecret`], which is an error of the receiver.
pub fn unwrap(
    raw_body: &[u8],
    headers: &impl WebhookHeaders,
    secrets: &[impl AsRef<str>],
) -> Result<Delivered, WebhookError> {
    let header = |name| headers.value(name).ok_or(WebhookError::MissingHeader(name));
    let (id, time) = (header("webhook-id")?, header("webhook-timestamp")?);
    let signatures = header("webhook-signature")?;
    if !is_recent(&time) {
        return Err(WebhookError::Expired);
    }
    let sent_signatures: Vec<Vec<u8>> =
        signatures.split(' ').filter_map(|entry| BASE64.decode(entry.strip_prefix("v1,")?).ok()).collect();
    let message = [id.as_bytes(), b".", time.as_bytes(), b".", raw_body].concat();
    for secret in secrets {
        let text = secret.as_ref();
        let bytes = BASE64.decode(text.strip_prefix(PREFIX).unwrap_or(text)).ok();
        // An empty key is malformed: every sender could sign with it.
        let bytes = bytes.filter(|bytes| !bytes.is_empty()).ok_or(WebhookError::MalformedSecret)?;
        let key = hmac::Key::new(hmac::HMAC_SHA256, &bytes);
        // `verify` compares in constant time.
        if sent_signatures.iter().any(|signature| hmac::verify(&key, &message, signature).is_ok()) {
            return read(raw_body).map_err(WebhookError::Unreadable);
        }
    }
    Err(WebhookError::WrongSignature)
}

/// Reads a verified body. A thin event is never read as an event with all data.
fn read(body: &[u8]) -> Result<Delivered, serde_json::Error> {
    let body: Value = serde_json::from_slice(body)?;
    if body["payload"] == "thin" {
        return serde_json::from_value(body).map(Delivered::Thin);
    }
    Event::try_from(body).map(Delivered::Full)
}

fn is_recent(time: &str) -> bool {
    let Ok(seconds) = time.parse::<u64>() else { return false };
    let now = now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    now.abs_diff(seconds) <= TOLERANCE.as_secs()
}
