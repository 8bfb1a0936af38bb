//! Signs deliveries and lets receivers verify them (§6.3, decision F5).
//!
//! A delivery carries two signatures of the same body. The key of `X-Service-Signature` is the text of the secret.
//! The key of the [Standard Webhooks](https://www.standardwebhooks.com) headers is the base64-decoded secret, so
//! that libraries for that specification can verify deliveries.
//!
//! A receiver verifies the raw bytes of the body before parsing them:
//!
//! ```
//! use candor_forms::signature::{self, SignatureError};
//! use candor_forms::time::Timestamp;
//!
//! let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
//! let header = "t=1772352930,v1=29c5e857e54b2cd2994d03eeb3885433d5253a7da770addb08633d60b9c9570f";
//! let body = r#"{"message":"çok iyi"}"#.as_bytes();
//! let now: Timestamp = "2026-03-01T08:17:00Z".parse()?;
//!
//! assert_eq!(signature::verify(secret, header, body, now), Ok(()));
//! assert_eq!(signature::verify(secret, header, b"{}", now), Err(SignatureError::Forged));
//! let an_hour_later: Timestamp = "2026-03-01T09:17:00Z".parse()?;
//! assert_eq!(signature::verify(secret, header, body, an_hour_later), Err(SignatureError::TooOld));
//! # Ok::<(), candor_forms::time::TimeError>(())
//! ```

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

use crate::secret::Secret;
use crate::time::Timestamp;

/// Prefix of every secret (§2.4).
pub const PREFIX: &str = "whsec_";
/// Largest allowed difference between the time of a signature and the receiver's clock, in seconds (§6.3, §8).
pub const TOLERANCE_SECONDS: i64 = 300;
/// Maximum number of signatures in a header: twice the maximum number of secrets of a subscription. A forged
/// header must not cost the receiver much time.
const MAX_VALUES: usize = 64;
/// Length of an HMAC-SHA256 tag, in bytes.
const TAG_BYTES: usize = 32;

/// Creates a secret from 256 random bits.
///
/// ```
/// use candor_forms::signature::generate;
///
/// let secret = generate([7; 32]);
/// assert!(secret.reveal().starts_with("whsec_"));
/// assert_eq!(secret.reveal().len(), 6 + 44);
/// ```
#[must_use]
pub fn generate(random: [u8; 32]) -> Secret {
    Secret::new(format!("{PREFIX}{}", STANDARD.encode(random)))
}

/// Returns the value of `X-Service-Signature` for a body, with one signature per secret, oldest secret first.
#[must_use]
pub fn sign(secrets: &[Secret], at: Timestamp, body: &[u8]) -> String {
    let seconds = unix_seconds(at);
    let mut header = format!("t={seconds}");
    for secret in secrets {
        header.push_str(",v1=");
        push_hex(tag(secret.reveal().as_bytes(), &[seconds.to_string().as_bytes(), body]).as_ref(), &mut header);
    }
    header
}

/// Returns the value of the Standard Webhooks header `webhook-signature`; `id` is the value of `webhook-id`.
#[must_use]
pub fn sign_standard(secrets: &[Secret], id: &str, at: Timestamp, body: &[u8]) -> String {
    let seconds = unix_seconds(at).to_string();
    let value = |secret: &Secret| {
        let tag = tag(&key_bytes(secret.reveal()), &[id.as_bytes(), seconds.as_bytes(), body]);
        format!("v1,{}", STANDARD.encode(tag.as_ref()))
    };
    secrets.iter().map(value).collect::<Vec<_>>().join(" ")
}

/// Returns the time as whole Unix seconds, as signatures state it.
#[must_use]
pub const fn unix_seconds(at: Timestamp) -> i64 {
    at.millis().div_euclid(1000)
}

/// The reason why a receiver must not trust a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The secret is empty or has nothing behind its prefix, so that any sender could sign.
    #[error("the signing secret is empty: set the secret of the webhook subscription")]
    NoSecret,
    /// The header is not `t=<unix_seconds>,v1=<hex>[,v1=<hex>…]`.
    #[error("the value of `X-Service-Signature` is not `t=<unix_seconds>,v1=<hex>`: pass it as received")]
    Malformed,
    /// The signature is older than [`TOLERANCE_SECONDS`].
    #[error(
        "the signature is more than 5 minutes old: the request is a replay, or the clock of the receiver is fast"
    )]
    TooOld,
    /// The signature is dated more than [`TOLERANCE_SECONDS`] in the future.
    #[error("the signature is dated more than 5 minutes in the future: check the clock of the receiver")]
    TooNew,
    /// No signature matches: the body was changed, or the secret is not one of the subscription.
    #[error(
        "no signature matches the body: check that the secret is that of the webhook subscription, and that the body \
         is verified as received, before it is parsed"
    )]
    Forged,
}

/// Verifies that the sender of `body` knows `secret` and signed within five minutes of `now`.
///
/// `header` is the value of `X-Service-Signature`, and `body` the bytes as received. Every signature of the header
/// is compared in constant time. See the [module](self) for an example.
///
/// # Errors
/// Returns the reason why the delivery must not be trusted.
pub fn verify(secret: &str, header: &str, body: &[u8], now: Timestamp) -> Result<(), SignatureError> {
    if secret.strip_prefix(PREFIX).unwrap_or(secret).is_empty() {
        return Err(SignatureError::NoSecret);
    }
    let (seconds, values) = read(header)?;
    let age = now.millis().saturating_sub(seconds.saturating_mul(1000));
    if age > TOLERANCE_SECONDS * 1000 {
        return Err(SignatureError::TooOld);
    }
    if age < -TOLERANCE_SECONDS * 1000 {
        return Err(SignatureError::TooNew);
    }
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let message = [seconds.to_string().as_bytes(), b".", body].concat();
    let mut matches = false;
    for value in values {
        matches |= hmac::verify(&key, &message, &value).is_ok();
    }
    if matches { Ok(()) } else { Err(SignatureError::Forged) }
}

/// Parses the time and the signatures of a header. Schemes other than `v1` may be added later and are skipped.
fn read(header: &str) -> Result<(i64, Vec<[u8; TAG_BYTES]>), SignatureError> {
    let (mut time, mut values) = (None, Vec::new());
    for part in header.split(',') {
        match part.trim().split_once('=').ok_or(SignatureError::Malformed)? {
            ("t", digits) if time.is_none() => time = Some(read_seconds(digits).ok_or(SignatureError::Malformed)?),
            ("t", _) => return Err(SignatureError::Malformed),
            ("v1", hex) if values.len() < MAX_VALUES => {
                values.push(read_hex(hex).ok_or(SignatureError::Malformed)?)
            }
            ("v1", _) => return Err(SignatureError::Malformed),
            _ => {}
        }
    }
    match time {
        Some(time) if !values.is_empty() => Ok((time, values)),
        _ => Err(SignatureError::Malformed),
    }
}

/// Parses canonical decimal seconds: the signed text is rebuilt from the number, so spellings must be unique.
fn read_seconds(digits: &str) -> Option<i64> {
    let number: i64 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

fn read_hex(text: &str) -> Option<[u8; TAG_BYTES]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * TAG_BYTES {
        return None;
    }
    let mut tag = [0; TAG_BYTES];
    for (byte, pair) in tag.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
    }
    Some(tag)
}

const fn hex_digit(symbol: u8) -> Option<u8> {
    match symbol {
        b'0'..=b'9' => Some(symbol - b'0'),
        b'a'..=b'f' => Some(symbol - b'a' + 10),
        b'A'..=b'F' => Some(symbol - b'A' + 10),
        _ => None,
    }
}

fn push_hex(bytes: &[u8], out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

/// Returns the HMAC-SHA256 of `parts`, joined by dots.
fn tag(key: &[u8], parts: &[&[u8]]) -> hmac::Tag {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            context.update(b".");
        }
        context.update(part);
    }
    context.sign()
}

/// Returns the base64-decoded secret without its prefix, or the text itself if it is not base64.
fn key_bytes(secret: &str) -> Vec<u8> {
    let encoded_key = secret.strip_prefix(PREFIX).unwrap_or(secret);
    STANDARD.decode(encoded_key).unwrap_or_else(|_| secret.as_bytes().to_vec())
}

#[cfg(test)]
mod tests;
