//! Signs deliveries, and lets receivers verify them (§6.3, decision F5).
//!
//! A delivery carries two signatures of the same body. `X-Service-Signature` is keyed by the whole text of the secret;
//! the headers of [Standard Webhooks](https://www.standardwebhooks.com) are keyed by the bytes that its base64 stands
//! for, so that the libraries of that specification verify deliveries unchanged.
//!
//! A receiver checks the raw bytes of the body before it reads them:
//!
//! ```
//! use candor_domain::signature::{self, Rejected};
//! use candor_domain::time::Timestamp;
//!
//! let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
//! let header = "t=1772352930,v1=29c5e857e54b2cd2994d03eeb3885433d5253a7da770addb08633d60b9c9570f";
//! let body = r#"{"message":"çok iyi"}"#.as_bytes();
//! let now: Timestamp = "2026-03-01T08:17:00Z".parse()?;
//!
//! assert_eq!(signature::verify(secret, header, body, now), Ok(()));
//! assert_eq!(signature::verify(secret, header, b"{}", now), Err(Rejected::Forged));
//! let an_hour_later: Timestamp = "2026-03-01T09:17:00Z".parse()?;
//! assert_eq!(signature::verify(secret, header, body, an_hour_later), Err(Rejected::TooOld));
//! # Ok::<(), candor_domain::time::NotATime>(())
//! ```

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

use crate::secret::Secret;
use crate::time::Timestamp;

/// What every secret begins with (§2.4).
pub const PREFIX: &str = "whsec_";
/// How far the time of a signature may be from the receiver's clock (§6.3, §8).
pub const TOLERANCE_SECONDS: i64 = 300;
/// Twice as many as a subscription's secrets ever are; more would only cost the receiver time.
const MAX_VALUES: usize = 64;
/// Bytes of an HMAC-SHA256.
const TAG_BYTES: usize = 32;

/// Makes a secret of 256 random bits.
///
/// ```
/// use candor_domain::signature::generate;
///
/// let secret = generate([7; 32]);
/// assert!(secret.reveal().starts_with("whsec_"));
/// assert_eq!(secret.reveal().len(), 6 + 44);
/// ```
#[must_use]
pub fn generate(random: [u8; 32]) -> Secret {
    Secret::new(format!("{PREFIX}{}", STANDARD.encode(random)))
}

/// The value of `X-Service-Signature` for a body signed at this time, with each secret's value, older secrets first.
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

/// The value of the Standard Webhooks header `webhook-signature`; `id` is what `webhook-id` says.
#[must_use]
pub fn sign_standard(secrets: &[Secret], id: &str, at: Timestamp, body: &[u8]) -> String {
    let seconds = unix_seconds(at).to_string();
    let value = |secret: &Secret| {
        let tag = tag(&key_bytes(secret.reveal()), &[id.as_bytes(), seconds.as_bytes(), body]);
        format!("v1,{}", STANDARD.encode(tag.as_ref()))
    };
    secrets.iter().map(value).collect::<Vec<_>>().join(" ")
}

/// The whole Unix seconds that a signature made at this time states.
#[must_use]
pub const fn unix_seconds(at: Timestamp) -> i64 {
    at.millis().div_euclid(1000)
}

/// Why a receiver must not trust a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// The receiver's secret is empty, or nothing follows its prefix: anybody can sign with such a key.
    #[error("the signing secret is empty")]
    NoSecret,
    /// The header is not `t=<unix_seconds>,v1=<hex>[,v1=<hex>…]`.
    #[error("the signature header is malformed")]
    Malformed,
    /// It was signed more than [`TOLERANCE_SECONDS`] ago.
    #[error("the signature is too old")]
    TooOld,
    /// It claims to have been signed more than [`TOLERANCE_SECONDS`] from now.
    #[error("the signature is from the future")]
    TooNew,
    /// No value is that of this body under this secret.
    #[error("no signature matches the body")]
    Forged,
}

/// Whether the sender of `body` knows `secret` and signed it within the last five minutes.
///
/// `header` is the value of `X-Service-Signature`, `body` the bytes as they were received. Every value of the header
/// is compared, each in constant time. See the [module](self) for an example.
///
/// # Errors
/// Why the delivery must not be trusted.
pub fn verify(secret: &str, header: &str, body: &[u8], now: Timestamp) -> Result<(), Rejected> {
    if secret.strip_prefix(PREFIX).unwrap_or(secret).is_empty() {
        return Err(Rejected::NoSecret);
    }
    let (seconds, values) = read(header)?;
    let age = now.millis().saturating_sub(seconds.saturating_mul(1000));
    if age > TOLERANCE_SECONDS * 1000 {
        return Err(Rejected::TooOld);
    }
    if age < -TOLERANCE_SECONDS * 1000 {
        return Err(Rejected::TooNew);
    }
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let signed = [seconds.to_string().as_bytes(), b".", body].concat();
    let mut matches = false;
    for value in values {
        matches |= hmac::verify(&key, &signed, &value).is_ok();
    }
    if matches { Ok(()) } else { Err(Rejected::Forged) }
}

/// The time and the values of a header. Other schemes than `v1` may be added later and are skipped.
fn read(header: &str) -> Result<(i64, Vec<[u8; TAG_BYTES]>), Rejected> {
    let (mut time, mut values) = (None, Vec::new());
    for part in header.split(',') {
        match part.trim().split_once('=').ok_or(Rejected::Malformed)? {
            ("t", digits) if time.is_none() => time = Some(read_seconds(digits).ok_or(Rejected::Malformed)?),
            ("t", _) => return Err(Rejected::Malformed),
            ("v1", hex) if values.len() < MAX_VALUES => values.push(read_hex(hex).ok_or(Rejected::Malformed)?),
            ("v1", _) => return Err(Rejected::Malformed),
            _ => {}
        }
    }
    match time {
        Some(time) if !values.is_empty() => Ok((time, values)),
        _ => Err(Rejected::Malformed),
    }
}

/// One spelling per time: the signed text is made from the number.
fn read_seconds(digits: &str) -> Option<i64> {
    let number: i64 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

fn read_hex(text: &str) -> Option<[u8; TAG_BYTES]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * TAG_BYTES {
        return None;
    }
    let mut out = [0; TAG_BYTES];
    for (byte, pair) in out.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
    }
    Some(out)
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

/// The HMAC-SHA256 of parts with a dot between them.
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

/// The bytes behind a secret's base64; a secret that is none is its own key.
fn key_bytes(secret: &str) -> Vec<u8> {
    let encoded = secret.strip_prefix(PREFIX).unwrap_or(secret);
    STANDARD.decode(encoded).unwrap_or_else(|_| secret.as_bytes().to_vec())
}

#[cfg(test)]
mod tests;
