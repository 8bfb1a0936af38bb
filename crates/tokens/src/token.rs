//! Signed tokens (RFC 7515, RFC 7519): their structure, and the check of their signature.
//!
//! A [`SignedToken`] is well-formed, and its claims are not trusted. [`SignedToken::verify`] makes a [`VerifiedToken`]
//! of it, whose claims the module [`claims`](super::claims) judges. Keys and addresses of keys in the header (`jwk`,
//! `jku`, `x5c`, `x5u`) are never used.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use candor_forms::fields::StringEnum;
use candor_forms::json::{Object, Value};

use super::algorithm::TokenAlgorithm;
use super::flaw::TokenError;
use super::key_set::{KeySet, MAX_KEY_ID_BYTES};
use super::strict_json::{DocumentError, read_object, text};

/// Maximum length of a token, in bytes.
pub const MAX_TOKEN_BYTES: usize = 16 * 1024;
/// Beginning of media types that a `typ` may leave out.
const APPLICATION: &str = "application/";

/// A well-formed token whose signature is not verified yet.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedToken<'t> {
    header: TokenHeader,
    claims: Object,
    /// Header and claims as they were sent, which the signature covers.
    message: &'t str,
    signature: Vec<u8>,
}

/// A token with a valid signature of its provider.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifiedToken {
    pub(super) header: TokenHeader,
    pub(super) claims: Object,
}

/// A verified token as its provider sent it, for a cache: in memory, claims that are read take 15 times the space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedToken {
    /// Header and claims, which the signature covers.
    message: Box<str>,
}

/// The members of a token's header that the service reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenHeader {
    pub(super) algorithm: TokenAlgorithm,
    key_id: Option<String>,
    pub(super) kind: TokenKind,
}

/// The kind of a token by its `typ`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// `JWT`, or no `typ`.
    Any,
    /// `at+jwt`, an access token (RFC 9068).
    Access,
    /// `logout+jwt`.
    Logout,
}

impl<'t> SignedToken<'t> {
    /// Reads a token.
    ///
    /// # Errors
    /// Returns the cause for which the token is refused, without a look at any key.
    pub fn parse(token: &'t str) -> Result<Self, TokenError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(TokenError::TooLarge);
        }
        let parts: Vec<&str> = token.splitn(6, '.').collect();
        let [header, claims, signature] = parts[..] else {
            return Err(if parts.len() == 5 { TokenError::Encrypted } else { TokenError::Malformed });
        };
        let message = &token[..header.len() + 1 + claims.len()];
        let header = TokenHeader::read(&object(header)?)?;
        Ok(Self { header, claims: object(claims)?, message, signature: decode(signature)? })
    }

    /// Returns the issuer that the token claims to have.
    #[must_use]
    pub fn claimed_issuer(&self) -> Option<&str> {
        text(&self.claims, "iss")
    }

    /// Returns the audiences that the token claims to be for.
    #[must_use]
    pub fn claimed_audiences(&self) -> Vec<&str> {
        audiences(&self.claims).unwrap_or_default()
    }

    /// Returns the `kid` of the key that the token names.
    #[must_use]
    pub fn key_id(&self) -> Option<&str> {
        self.header.key_id.as_deref()
    }

    /// Verifies the signature with the key that fits the header.
    ///
    /// # Errors
    /// Returns the flaw of the key or of the signature. [`TokenError::UnknownKey`] can mean that the provider has a new
    /// key, which `keys` lacks.
    pub fn verify(self, keys: &KeySet) -> Result<VerifiedToken, TokenError> {
        let algorithm = self.header.algorithm;
        let key = keys.select(algorithm, self.header.key_id.as_deref())?;
        key.verify(algorithm, self.message.as_bytes(), &self.signature)?;
        Ok(VerifiedToken { header: self.header, claims: self.claims })
    }

    /// Verifies the signature as [`SignedToken::verify`] does, and returns the token for a cache.
    ///
    /// # Errors
    /// Errors of [`SignedToken::verify`].
    pub fn verify_and_pack(self, keys: &KeySet) -> Result<PackedToken, TokenError> {
        let message = self.message.into();
        self.verify(keys)?;
        Ok(PackedToken { message })
    }
}

impl PackedToken {
    /// Returns the token with its claims, whose signature was verified.
    ///
    /// # Errors
    /// [`TokenError::Malformed`] for a message that no token has.
    pub fn unpack(&self) -> Result<VerifiedToken, TokenError> {
        let (header, claims) = self.message.split_once('.').ok_or(TokenError::Malformed)?;
        Ok(VerifiedToken { header: TokenHeader::read(&object(header)?)?, claims: object(claims)? })
    }

    /// Returns the size of the token in memory, in bytes.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.message.len()
    }
}

impl TokenHeader {
    fn read(header: &Object) -> Result<Self, TokenError> {
        let has = |name| header.get(name).is_some();
        if has("enc") || has("zip") {
            return Err(TokenError::Encrypted);
        }
        if has("crit") || has("b64") {
            return Err(TokenError::Extension);
        }
        let word = text(header, "alg").ok_or(TokenError::Malformed)?;
        let algorithm = TokenAlgorithm::from_word(word).map_err(|_| TokenError::Algorithm)?;
        let key_id = optional_text(header, "kid")?.map(ToOwned::to_owned);
        if key_id.as_ref().is_some_and(|id| id.len() > MAX_KEY_ID_BYTES) {
            return Err(TokenError::Malformed);
        }
        let kind = TokenKind::read(optional_text(header, "typ")?)?;
        Ok(Self { algorithm, key_id, kind })
    }
}

impl TokenKind {
    /// Reads a media type, which is compared without case (RFC 7515).
    fn read(word: Option<&str>) -> Result<Self, TokenError> {
        let Some(word) = word else { return Ok(Self::Any) };
        let word = word.to_ascii_lowercase();
        match word.strip_prefix(APPLICATION).unwrap_or(&word) {
            "jwt" => Ok(Self::Any),
            "at+jwt" => Ok(Self::Access),
            "logout+jwt" => Ok(Self::Logout),
            _ => Err(TokenError::Kind),
        }
    }
}

/// Returns the audiences of claims, one or a list. `None` if there is none.
pub(super) fn audiences(claims: &Object) -> Option<Vec<&str>> {
    match claims.get("aud")? {
        Value::Text(audience) => Some(vec![audience.as_str()]),
        Value::List(_) => super::strict_json::texts(claims, "aud").filter(|audiences| !audiences.is_empty()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Returns the text of a member that may be missing.
///
/// # Errors
/// Returns [`TokenError::Malformed`] for a value of another type, also for null.
pub(super) fn optional_text<'o>(object: &'o Object, name: &str) -> Result<Option<&'o str>, TokenError> {
    if object.get(name).is_none() {
        return Ok(None);
    }
    text(object, name).map(Some).ok_or(TokenError::Malformed)
}

/// Decodes base64url without padding. Texts that are not canonical are refused.
fn decode(part: &str) -> Result<Vec<u8>, TokenError> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| TokenError::Malformed)
}

fn object(part: &str) -> Result<Object, TokenError> {
    read_object(&decode(part)?, MAX_TOKEN_BYTES).map_err(|flaw| match flaw {
        DocumentError::TooLarge | DocumentError::NotAnObject => TokenError::Malformed,
        DocumentError::RepeatedMember => TokenError::RepeatedMember,
    })
}
